import { afterAll, beforeAll, expect, test } from 'vitest'
import { RoomSite } from '../support/sites/room-site.ts'

let site: RoomSite
beforeAll(async () => {
  site = await RoomSite.start()
})
afterAll(() => site[Symbol.asyncDispose]())

test('an announced restart is shown calmly and announced to screen readers until it is cancelled; then the page returns by itself', async () => {
  const room = await site.room({ topic: 'Night shift' })
  const ann = await site.join(await site.link(room), { name: 'Ann', equipment: 'none' })
  const banner = ann.page
    .getByRole('status')
    .filter({ hasText: /^The server restarts at \d\d:\d\d\. You will be reconnected/ })
  await site.controller.rpc('media.announce_restart', { in_ms: 120_000 })
  await banner.waitFor()
  expect(await ann.accessibilityProblems()).toEqual([])
  await site.controller.rpc('media.withdraw_restart', {})
  await banner.waitFor({ state: 'detached' })
  await ann.page.getByText('The restart was called off').waitFor()
  // Dismissed, it stays away; another one is shown.
  await site.controller.rpc('media.announce_restart', { in_ms: 120_000 })
  await banner.getByRole('button', { name: 'Close' }).click()
  await banner.waitFor({ state: 'detached' })
  await site.controller.rpc('media.announce_restart', { in_ms: 300_000 })
  await banner.waitFor()
  await site.stop()
  await banner.waitFor({ state: 'detached' })
  await site.startAgain()
  await ann.page.getByText('You are connected again').waitFor()
  expect(await banner.count()).toBe(0)
  await ann.close()
})
