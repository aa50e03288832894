/// <reference types="node" />
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { defineComponent, h } from 'vue'
import LossesCard from '../../../renderer/console/pages/settings/LossesCard.vue'
import AttentionList from '../../../renderer/console/pages/overview/AttentionList.vue'
import { useAttention } from '../../../renderer/console/composables/site.ts'
import { highWaterName } from '../../../server/store/files/journal/high-water.ts'
import { openStore } from '../../../server/store/open-store.ts'
import { loadKeyFile } from '../../../server/store/files/key-file.ts'
import { createSealer } from '../../../server/store/sealer.ts'
import { storedRoom } from '../../support/stored-records.ts'
import { operator, press, says, show } from '../devices/operator-page.ts'
import { eventually } from '../eventually.ts'

/** A site whose two rooms were confirmed before a power failure, and whose journal is gone. */
async function loseTheJournal(folder: string): Promise<void> {
  const before = await mkdtemp(join(tmpdir(), 'roomdesk-page-'))
  const store = await openStore({ folder: before, sealer: createSealer(await loadKeyFile(join(folder, 'seal.key'))) })
  for (const id of ['1', '2']) {
    await store.transact([], (transaction) => transaction.put('rooms', id, storedRoom(id, { id: Number(id) })))
  }
  await eventually(async () => expect(await readFile(join(before, highWaterName), 'utf8')).toContain('"lines":2'))
  await cp(before, folder, { recursive: true, filter: (path) => !/journal-|roomdesk\.lock$/.test(path) })
  await store.close()
  await rm(before, { recursive: true })
}

const attention = defineComponent({
  setup() {
    const items = useAttention()
    return () => [h(AttentionList, { items: items.value }), h(LossesCard)]
  },
})

test('a loss by damage is shown with the remedy, until it is dismissed', async () => {
  const client = await operator(loseTheJournal)
  show(attention, client)
  await says('Confirmed changes are lost because the data folder was damaged. Check the disk, then recreate')
  // "Show" links to the card that lists the losses.
  expect(document.querySelector('a[href$="/settings/data"]')?.textContent).toBe('Show')
  await says('journal-000001.ndjson is missing: 2 confirmed changes, made between')
  await says('Recreate what is missing, or restore your own copy of the whole data folder')
  expect((await client.call('overview.get')).attention[0]).toMatchObject({
    code: 'changesLost',
    level: 'warning',
    message: expect.stringMatching(
      /missing: 2 confirmed changes.* lost\. Check the disk; then recreate what is missing/,
    ),
  })
  await press('Dismiss')
  await eventually(() => expect(document.body.textContent).not.toContain('confirmed'))
  const site = await client.call('overview.get')
  expect(site.store.losses).toEqual([])
  expect(site.attention.map(({ code }) => code)).not.toContain('changesLost')
})
