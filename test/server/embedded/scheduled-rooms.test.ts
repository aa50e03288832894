import { expect, test } from 'vitest'
import { startTestCamera } from '../../support/camera/test-camera.ts'
import { SignalClient } from '../../support/media/signal-client.ts'
import { MediaSite } from '../../support/sites/media-site.ts'
import { shared } from '../../support/fixtures.ts'

const site = shared(() => MediaSite.start())

/** A schedule whose one meeting begins in some seconds, for a minute. */
const startingIn = (seconds: number) => ({
  start: new Date(Date.now() + seconds * 1_000).toISOString().slice(0, 19),
  minutes: 1,
  zone: 'UTC',
  early_minutes: 0,
  overrun_minutes: 0,
})
const tokenOf = (url: string): string => new URL(url).hash.replace('#token=', '')
const statusOf = async (room_id: string): Promise<unknown> =>
  (await site().api.get('/rtc/room/get', { room_id })).room_status
const kindsOf = async (id: string): Promise<string[]> =>
  (await site().rpc('events.list', { subject: { type: 'room', id } })).items.map(({ kind }) => kind)

test('a room opens by its schedule: guests, clients and cameras wait until then', async () => {
  await using camera = await startTestCamera()
  const address = camera.url
  const { room_id } = await site().rpc('rooms.create', { topic: 'Board', schedule: startingIn(2) })
  const { url } = await site().rpc('media.join_link', { room_id, user_name: 'Ann' })
  const early = new SignalClient(site().nodeUrl)
  await early.ask(room_id, { token: tokenOf(url) })
  const refused = await early.next('refused')
  expect(refused).toMatchObject({ reason: 'notOpenYet', opening: { opens_in_ms: expect.any(Number) } })
  expect(refused.opening?.opens_in_ms).toBeLessThanOrEqual(2_000)
  expect(await statusOf(room_id)).toBe(0)
  expect(await site().api.get('/sdk/get_mcu', { room_id })).toMatchObject({
    ret: 416,
    msg: expect.stringContaining('(UTC)'),
  })
  expect(await site().join(room_id, 'gate', address)).toMatchObject({ ret: 424 })
  await expect.poll(() => statusOf(room_id), { timeout: 5_000 }).toBe(1)
  expect(await site().join(room_id, 'gate', address)).toMatchObject({ ret: 0 })
  const ann = await SignalClient.join(site().nodeUrl, room_id, { token: tokenOf(url) })
  expect(ann.joined.room.end?.closes_in_ms).toBeLessThanOrEqual(60_000)
  await expect.poll(() => kindsOf(room_id)).toContain('room.openedBySchedule')

  await site().rpc('rooms.end_now', { room_id })
  expect(await ann.next('removed')).toEqual({ type: 'removed', reason: 'closed' })
  expect(await statusOf(room_id)).toBe(0)
  const gate = async (): Promise<string> => (await site().device('gate')).state
  await expect.poll(gate).toBe('waiting')
  await site().rpc('rooms.update', { room_id, schedule: null })
  await expect.poll(gate, { timeout: 5_000 }).toBe('joined')
  expect(Object.keys(await site().api.get('/rtc/room/get', { room_id }))).not.toContain('schedule')
})

test('a room closes at the end of its meeting, and an operator opens it again before the next one', async () => {
  const schedule = { ...startingIn(-58), rule: 'FREQ=DAILY' }
  const { room_id, meeting } = await site().rpc('rooms.create', { topic: 'Stand-up', schedule })
  expect(meeting).toMatchObject({ open: true })
  const { url } = await site().rpc('media.join_link', { room_id, user_name: 'Bo' })
  const bo = await SignalClient.join(site().nodeUrl, room_id, { token: tokenOf(url) })
  expect(await bo.next('removed')).toEqual({ type: 'removed', reason: 'closed' })
  await expect.poll(() => kindsOf(room_id)).toContain('room.closedBySchedule')
  expect(await statusOf(room_id)).toBe(0)
  const { items } = await site().rpc('rooms.list', { scheduled: true, search: 'Stand-up' })
  expect(items[0]?.meeting).toMatchObject({ open: false, start: Date.parse(`${schedule.start}Z`) + 86_400_000 })
  const coming = await site().rpc('rooms.coming', { before: Date.now() + 2 * 86_400_000 })
  expect(coming.map((next) => next.topic)).toContain('Stand-up')

  await site().rpc('rooms.open_now', { room_id })
  expect(await statusOf(room_id)).toBe(1)
  const again = await SignalClient.join(site().nodeUrl, room_id, { token: tokenOf(url) })
  again.drop()
})

test('a link to a scheduled room lasts until the end of its next meetings', async () => {
  const start = new Date(Date.now() + 40 * 86_400_000).toISOString().slice(0, 16)
  const { room_id } = await site().rpc('rooms.create', {
    topic: 'Later',
    schedule: { start, minutes: 60, zone: 'UTC' },
  })
  const { expires_at } = await site().rpc('media.join_link', { room_id })
  expect(expires_at).toBe(Date.parse(`${start}Z`) + 90 * 60_000)
})

test('a schedule without a future meeting is refused', async () => {
  const over = { start: '2026-02-01T09:00', minutes: 60, zone: 'Europe/Berlin' }
  const bad = [over, { ...over, rule: 'FREQ=DAILY;UNTIL=20260131' }, { ...over, rule: 'FREQ=DAILY;COUNT=3' }]
  for (const schedule of bad)
    await expect(site().rpc('rooms.create', { topic: 'Past', schedule })).rejects.toThrow('No meeting of this schedule')
  await expect(
    site().rpc('rooms.create', { topic: 'Where', schedule: { ...over, zone: 'Mars/Olympus' } }),
  ).rejects.toThrow('schedule.zone: must be a time zone')
})
