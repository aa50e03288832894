import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore } from '../../../server/store/open-store.ts'
import { loadKeyFile } from '../../../server/store/files/key-file.ts'
import { createSealer } from '../../../server/store/sealer.ts'
import { putSettings } from '../../../server/store/site-settings.ts'
import { mergeSettings } from '../../../shared/settings.ts'
import { ConsolePages } from '../console-pages.ts'
import { openConsole } from '../../support/sites/console-site.ts'

/** Sets free ports in the site's own settings. */
async function settleOnFreePorts(folder: string): Promise<void> {
  const store = await openStore({ folder, sealer: createSealer(await loadKeyFile(join(folder, 'seal.key'))) })
  const listeners = { media_port: 0, device_port: 0, node_port: 0, console_port: 0 }
  await store.transact([], (transaction) => putSettings(transaction, mergeSettings(undefined, { listeners }), store))
  await store.close()
}

const answers = (url: string): Promise<boolean> =>
  fetch(`${url}/openapi.json`).then(
    ({ ok }) => ok,
    () => false,
  )

/** An operator moves a listener. */
export function portStory(): void {
  test('a port in use is reported at its field and changes nothing; a free one moves only its listener', async () => {
    const holder = createServer().listen(0, '127.0.0.1')
    await once(holder, 'listening')
    const taken = (holder.address() as AddressInfo).port
    await using opened = await openConsole('headless', { prepare: settleOnFreePorts, ports: 'settings' })
    const { page } = opened
    const pages = new ConsolePages(page)
    const before = await opened.urls()
    await pages.go('Settings')
    const card = page.getByRole('form', { name: 'Addresses and ports' })
    const field = card.getByLabel('Media room API', { exact: true })
    const save = card.getByRole('button', { name: 'Save' })
    await field.fill(String(taken))
    await save.click()
    await card
      .getByRole('alert')
      .filter({ hasText: String(taken) })
      .first()
      .waitFor()
    expect(await opened.urls()).toEqual(before)
    expect(await answers(before.media)).toBe(true)

    await new Promise((resolve) => holder.close(resolve))
    await save.click()
    await pages.confirm('Apply')
    await expect.poll(async () => (await opened.urls()).media).toBe(`http://127.0.0.1:${taken}`)
    expect(await opened.urls()).toMatchObject({ device: before.device })
    expect(await answers(`http://127.0.0.1:${taken}`)).toBe(true)
    expect(await answers(before.media)).toBe(false)

    await card.getByRole('button', { name: 'Restart listeners' }).click()
    await pages.confirm('Restart listeners')
    await page.getByText('The listeners were restarted').waitFor()
    expect(await answers(`http://127.0.0.1:${taken}`)).toBe(true)
  })
}
