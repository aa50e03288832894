import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { postgresOfFile } from '../drivers.ts'
import { createRoom, temporaryFolder } from '../../../support/sites/store-site.ts'
import { siteOfControllers } from '../../../support/sites/member-site.ts'

const postgres = postgresOfFile()

test('Of two controllers with one id, from a copied data folder, the second is refused with the remedy', async () => {
  const site = await siteOfControllers(await postgres())
  const folder = await temporaryFolder()
  const first = await site.controller('first', { folder })
  const led = await first.lead()
  const copy = await temporaryFolder()
  await cp(join(folder, 'controller.id'), join(copy, 'controller.id'))
  await expect(site.controller('second', { folder: copy })).rejects.toThrow(
    /data folder .* was copied: delete controller.id/,
  )
  expect(await first.member.controllers()).toMatchObject([{ name: 'first', role: 'leader' }])
  await rm(join(copy, 'controller.id'))
  const second = await site.controller('second', { folder: copy })
  await vi.waitFor(async () => expect(await first.member.controllers()).toHaveLength(2))
  await createRoom(led, 'for both')
  await vi.waitFor(() => expect([...second.member.followed.all('rooms').keys()]).toEqual(['for both']))
})

test('A data folder moved while no controller used it keeps the id of its controller', async () => {
  const site = await siteOfControllers(await postgres())
  const folder = await temporaryFolder()
  const first = await site.controller('first', { folder })
  await createRoom(await first.lead(), 'before')
  await first.close()
  const moved = await temporaryFolder()
  await cp(folder, moved, { recursive: true })
  const again = await site.controller('moved', { folder: moved })
  expect(again.member.id).toBe(first.member.id)
  await createRoom(await again.lead(), 'after')
  expect(await again.member.controllers()).toMatchObject([{ name: 'moved', role: 'leader' }])
})
