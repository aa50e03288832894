import { expect, onTestFinished, test } from 'vitest'
import { RoomSite, type Visitor } from '../support/sites/room-site.ts'

/** Leaves a meeting by the button of its page. */
async function leave({ page }: Visitor): Promise<void> {
  await page.getByRole('button', { name: 'Leave', exact: true }).click()
  await page.getByRole('toolbar').waitFor({ state: 'detached' })
}

test('A room with the rule “while people are in it” is recorded from the first person who joins until the last one leaves, and everybody sees this', {
  timeout: 180_000,
}, async () => {
  const site = await RoomSite.start()
  onTestFinished(() => site[Symbol.asyncDispose]())
  const { controller } = site
  const roomId = await site.room({ topic: 'Weekly' })
  await site.camera(roomId, 'door', 'Door')
  await controller.rpc('recordings.set_rule', { room_id: roomId, rule: { when: 'occupied' } })
  const target = async () => (await controller.rpc('recordings.states', { room_ids: [roomId] })).items[0]
  const sources = async () =>
    Object.fromEntries(
      (await controller.rpc('recordings.sources', {})).items.map(({ user_name, recording }) => [user_name, recording]),
    )
  // A camera is nobody: with it alone the room is not recorded.
  await expect
    .poll(async () => (await controller.rpc('devices.list', {}))[0]?.state, { timeout: 30_000 })
    .toBe('joined')
  expect(await target()).toBeUndefined()
  expect(await sources()).toEqual({})

  const anna = await site.join(await site.link(roomId), { name: 'Anna' })
  await anna.page.getByText('Recording', { exact: true }).waitFor()
  await expect.poll(target, { timeout: 30_000 }).toMatchObject({ user_id: '', by: 'rule', recording: true })
  const ben = await site.join(await site.link(roomId), { name: 'Ben' })
  await ben.page.getByText('Recording', { exact: true }).waitFor()
  await expect.poll(sources, { timeout: 30_000 }).toEqual({ Anna: true, Ben: true, Door: true })

  // The first one who leaves ends nothing but the recording of their own streams.
  await leave(anna)
  await expect.poll(sources, { timeout: 30_000 }).toEqual({ Anna: false, Ben: true, Door: true })
  expect(await target()).toMatchObject({ by: 'rule', recording: true })
  expect(await ben.page.getByText('Recording', { exact: true }).isVisible()).toBe(true)

  await leave(ben)
  await expect.poll(target, { timeout: 30_000 }).toBeUndefined()
  await expect.poll(sources, { timeout: 30_000 }).toEqual({ Anna: false, Ben: false, Door: false })

  // The next meeting is recorded again.
  const cleo = await site.join(await site.link(roomId), { name: 'Cleo' })
  await cleo.page.getByText('Recording', { exact: true }).waitFor()
  await expect.poll(async () => (await sources()).Cleo, { timeout: 30_000 }).toBe(true)
  for (const { problems } of [anna, ben, cleo]) expect(problems).toEqual([])
})
