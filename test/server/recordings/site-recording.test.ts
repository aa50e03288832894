import { readdir } from 'node:fs/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { streamOfPath } from '../../../shared/recordings/segment-path.ts'
import { startTestCamera } from '../../support/camera/test-camera.ts'
import { FieldCamera } from '../../support/field/field-camera.ts'
import { FieldEncoder } from '../../support/field/field-encoder.ts'
import { fieldFilm } from '../../support/field/field-film.ts'
import { SignalClient } from '../../support/media/signal-client.ts'
import { folderHolds } from '../../support/recordings/written-media.ts'
import { MediaSite } from '../../support/sites/media-site.ts'
import { shared, sharedFolder } from '../../support/fixtures.ts'

vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 })

const recordings = sharedFolder()
const camera = shared(() => startTestCamera({ sound: 'opus' }))
const site = shared(() =>
  MediaSite.start({ recordings: recordings(), settings: { recording: { free_gigabytes: 0.1, free_percent: 0 } } }),
)

interface Stream {
  room_id: string
  user_id: string
}

/** Adds the camera to a room of its own. Both are removed after the test. */
async function cameraInRoom(topic: string): Promise<Stream> {
  const { room_id } = await site().rpc('rooms.create', { topic })
  // A busy machine may start the node's process late.
  await site().until(() => site().nodeUrl !== '', 45_000)
  const user_id = `camera-${room_id}`
  await site().rpc('devices.create', {
    ...{ roomId: room_id, userId: user_id, userName: topic, userAddress: camera().url },
  })
  const stream = { room_id, user_id }
  onTestFinished(async () => {
    await site().rpc('rooms.delete', { room_ids: [room_id] })
    await expect.poll(() => target(stream), { timeout: 20_000 }).toBeUndefined()
  })
  return stream
}

const target = async ({ room_id }: Stream) => (await site().rpc('recordings.states', { room_ids: [room_id] })).items[0]
/** Waits until a stream is recorded. */
const untilRecorded = (stream: Stream) =>
  expect.poll(async () => (await target(stream))?.recording, { timeout: 20_000 }).toBe(true)
const timeLine = async (stream: Stream) => {
  const { items } = await site().rpc('recordings.segments', {
    streams: [stream],
    from: Date.now() - 3_600_000,
    to: Date.now() + 60_000,
  })
  return items[0] ?? { spans: [], gaps: [] }
}
const kinds = async (from = 0) =>
  (await site().rpc('events.list', { groups: ['recordings'], from })).items.map(({ kind, actor, params }) => [
    kind,
    actor.type,
    params.by,
  ])

test('an operator starts and stops the recording of a camera, and both are in the event log', async () => {
  const since = Date.now()
  const yard = await cameraInRoom('Yard')
  const started = await site().rpc('recordings.start', yard)
  expect(started).toMatchObject({ ...yard, by: 'operator', device: true, topic: 'Yard' })
  await untilRecorded(yard)
  expect(await timeLine(yard)).toMatchObject({ spans: [{ open: true }] })
  expect(await site().rpc('recordings.status', {})).toMatchObject({ usable: true, streams: 1, problems: [] })
  expect(await site().rpc('recordings.stop', yard)).toEqual({ stopped: true })
  await expect.poll(async () => (await timeLine(yard)).spans, { timeout: 20_000 }).toMatchObject([{ open: false }])
  const { items } = await site().rpc('recordings.sources', {})
  expect(items.filter(({ room_id }) => room_id === yard.room_id)).toMatchObject([
    { ...yard, device: true, recording: false, exists: true, segments: 1 },
  ])
  await expect
    .poll(() => kinds(since))
    .toEqual([
      ['recording.stopped', 'operator', 'operator'],
      ['recording.started', 'operator', 'operator'],
    ])
})

test('a rule records permanently; a lost process leaves a repaired segment and a gap', async () => {
  const yard = await cameraInRoom('Yard')
  await site().rpc('recordings.set_rule', { ...yard, rule: { when: 'always' } })
  await untilRecorded(yard)
  // Some fragments have to be on the disk before the process is lost.
  await expect.poll(async () => (await timeLine(yard)).spans.at(-1)?.open, { timeout: 20_000 }).toBe(true)
  const since = Date.now()
  await folderHolds(recordings(), 1_000)
  process.kill(site().pid, 'SIGKILL')
  await expect
    .poll(async () => (await timeLine(yard)).gaps, { timeout: 40_000 })
    .toContainEqual({ from: expect.any(Number), to: expect.any(Number), reason: 'nodeAway' })
  await untilRecorded(yard)
  const pieces = await site().rpc('recordings.pieces', { stream: yard, from: since - 60_000, to: Date.now() })
  expect(pieces.items.map(({ end }) => end)).toContain('cut')
  expect(await site().rpc('recordings.stop', yard)).toEqual({ stopped: false })
})

test('a kept span survives a deletion, and its files stay', async () => {
  const [yard, gate] = [await cameraInRoom('Yard'), await cameraInRoom('Gate')]
  const files = async (): Promise<string[]> =>
    (await readdir(recordings(), { recursive: true })).filter((file) =>
      [yard.room_id, gate.room_id].includes(streamOfPath(file)?.roomId ?? ''),
    )
  const whole = { streams: [yard, gate], from: Date.now() - 3_600_000, to: Date.now() + 60_000 }
  const pieces = async (stream: Stream) =>
    (await site().rpc('recordings.pieces', { stream, from: whole.from, to: whole.to })).items
  for (const stream of [yard, gate]) {
    await site().rpc('recordings.start', stream)
    // A recording that is stopped before its first fragment leaves nothing.
    await expect.poll(() => pieces(stream), { timeout: 20_000 }).toHaveLength(1)
    await site().rpc('recordings.stop', stream)
    await expect.poll(async () => (await timeLine(stream)).spans.at(-1)?.open, { timeout: 20_000 }).toBe(false)
  }
  await expect.poll(async () => (await site().rpc('recordings.status', {})).streams, { timeout: 20_000 }).toBe(0)
  const [first] = await pieces(yard)
  if (first === undefined) throw new Error('nothing was recorded')
  const moment = { streams: [yard], from: first.from, to: first.from + 1 }
  const kept = await site().rpc('recordings.keep', { ...moment, note: 'Delivery' })
  expect(kept.segments).toBe(1)
  expect(await site().rpc('recordings.delete', whole)).toMatchObject({ segments: 1, kept: 1 })
  await expect.poll(files).toHaveLength(1)
  await site().rpc('recordings.unkeep', { id: kept.id })
  expect(await site().rpc('recordings.delete', whole)).toMatchObject({ segments: 1, kept: 0 })
  await expect.poll(files).toEqual([])
  await expect.poll(async () => (await kinds()).at(0)?.[0]).toBe('recording.deleted')
})

test('a viewer sees recordings of cameras and changes nothing', async () => {
  const viewer = { transport: 'rpc', client: '', role: 'viewer', way: 'password' } as const
  const sources = await site().controller.dispatch('recordings.sources', {}, viewer)
  expect(sources.ok).toBe(true)
  const started = await site().controller.dispatch('recordings.start', await cameraInRoom('Yard'), viewer)
  expect(started).toMatchObject({ ok: false, error: { code: 'forbidden' } })
})

test('a full disk stops recording before its reserve and reports it, and recording resumes once there is space', async () => {
  const yard = await cameraInRoom('Yard')
  await site().rpc('recordings.set_rule', { ...yard, rule: { when: 'always' } })
  await untilRecorded(yard)
  await site().rpc('settings.set', { recording: { free_percent: 90, free_gigabytes: 100_000 } })
  await expect
    .poll(() => target(yard), { timeout: 20_000 })
    .toMatchObject({ recording: false, hindrance: 'storageLow' })
  expect((await site().rpc('overview.get', {})).attention.map(({ code }) => code)).toContain('recordingStorageLow')
  await expect.poll(async () => (await timeLine(yard)).gaps.at(-1)).toMatchObject({ reason: 'storageLow', to: null })
  await site().rpc('settings.set', { recording: { free_percent: 0, free_gigabytes: 0.1 } })
  await untilRecorded(yard)
  expect((await timeLine(yard)).gaps.at(-1)).toMatchObject({ reason: 'storageLow', to: expect.any(Number) })
  const logged = (await kinds()).map(([kind]) => kind)
  expect(logged).toContain('recording.storageLow')
  expect(logged).toContain('recording.storageBack')
})

test('a paused camera leaves a gap with that reason, and a removed one is no longer recorded', async () => {
  const yard = await cameraInRoom('Yard')
  const { user_id } = yard
  await site().rpc('recordings.start', yard)
  await untilRecorded(yard)
  await site().rpc('devices.pause', { userIds: [user_id] })
  await expect
    .poll(async () => (await timeLine(yard)).gaps.at(-1), { timeout: 20_000 })
    .toMatchObject({ reason: 'paused' })
  expect(await target(yard)).toBeUndefined()
  await site().rpc('devices.resume', { userIds: [user_id] })
  await untilRecorded(yard)
  await expect
    .poll(async () => (await timeLine(yard)).gaps.at(-1), { timeout: 20_000 })
    .toMatchObject({ to: expect.any(Number) })
  await site().rpc('devices.remove', { userIds: [user_id] })
  await expect.poll(() => target(yard)).toBeUndefined()
  // A camera from the trash is not recorded by an earlier wish.
  const removed = await site().rpc('trash.list', { search: user_id })
  await site().rpc('devices.restore', { ids: [removed.items[0]?.id ?? ''] })
  expect(await target(yard)).toBeUndefined()
})

test('hosts record their room only if the site allows it, and everybody in it is notified', async () => {
  const board = (await site().rpc('rooms.create', { topic: 'Board' })).room_id
  const enter = async (userId: string, role: 'member' | 'host') => {
    const { url } = await site().rpc('media.join_link', { room_id: board, user_id: userId, user_name: userId, role })
    return await SignalClient.join(site().nodeUrl, board, { token: new URL(url).hash.replace('#token=', '') })
  }
  const ann = await enter('Ann', 'host')
  expect(ann.joined.room.may_record).toBeUndefined()
  ann.send({ type: 'record', on: true })
  expect(await ann.next('error')).toMatchObject({ reason: 'busy' })
  await site().rpc('settings.set', { recording: { hosts: true, announce: false } })
  onTestFinished(async () => {
    await site().rpc('settings.set', { recording: { hosts: false, announce: true } })
  })
  const bo = await enter('Bo', 'member')
  expect(bo.joined.room).toMatchObject({ may_record: true, recording_silent: true })
  bo.send({ type: 'record', on: true })
  expect(await bo.next('error')).toMatchObject({ reason: 'forbidden' })
  ann.send({ type: 'record', on: true })
  expect(await bo.next('recording')).toEqual({ type: 'recording', on: true })
  expect((await site().rpc('recordings.states', { room_ids: [board] })).items).toMatchObject([
    { user_id: '', by: 'host', started_by: 'Ann' },
  ])
  const cy = await enter('Cy', 'member')
  expect(cy.joined.room.recording).toBe(true)
  bo.forget()
  for (const person of [cy, bo, ann]) person.send({ type: 'leave' })
  // The meeting is over, and the recording with it.
  await expect.poll(async () => (await site().rpc('recordings.states', { room_ids: [board] })).items).toEqual([])
  await expect
    .poll(() => kinds())
    .toEqual(
      expect.arrayContaining([
        ['recording.started', 'host', 'host'],
        ['recording.stopped', 'system', 'meetingEnded'],
      ]),
    )
})

test('a track that is not recorded is shown on the stream, as an event and in the time line', async () => {
  const speex = { kind: 'audio', reason: 'speex', detail: 'Speex', recorded: false }
  await using gate = await FieldCamera.start({
    quirk: 'sound is Speex',
    source: 'intercoms',
    sound: {
      section: ['m=audio 0 RTP/AVP 97', 'a=rtpmap:97 speex/16000', 'a=control:track2'],
      ...{ payloadType: 97, everyMs: 20, ticks: 320, recordedAs: '' },
      payload: () => Buffer.alloc(42),
    },
  })
  const { room_id } = await site().rpc('rooms.create', { topic: 'Stage' })
  await site().rpc('devices.create', { roomId: room_id, userId: 'gate', userName: 'Gate', userAddress: gate.url })
  await site().rpc('recordings.start', { room_id, user_id: 'gate' })
  const { url } = await site().rpc('media.join_link', { room_id, user_id: 'stage', user_name: 'Stage' })
  await using _ = await FieldEncoder.publish(
    `${site().nodeUrl}/whip/${room_id}`,
    new URL(url).hash.replace('#token=', ''),
    { film: await fieldFilm('plain'), sound: 'speex' },
  )
  await site().rpc('recordings.start', { room_id, user_id: 'stage' })
  for (const user_id of ['gate', 'stage']) {
    const stream = { room_id, user_id }
    const span = { from: Date.now() - 3_600_000, to: Date.now() + 60_000 }
    const lacks = async () =>
      (await site().rpc('recordings.segments', { streams: [stream], ...span })).items[0]?.lacks.map(
        ({ tracks }) => tracks,
      )
    await expect.poll(lacks, { timeout: 20_000 }).toMatchObject([[speex]])
    await site().rpc('recordings.stop', stream)
    const pieces = async () =>
      (await site().rpc('recordings.pieces', { stream, ...span })).items.map(({ end, lacks }) => ({ end, lacks }))
    await expect.poll(pieces, { timeout: 20_000 }).toMatchObject([{ end: 'stopped', lacks: [speex] }])
    await expect.poll(lacks).toMatchObject([[speex]])
  }
  const { streams } = await site().rpc('media.stats', {})
  const shortcomings = new Map(streams.map((each) => [each.user_id, each.shortcomings]))
  expect([shortcomings.get('gate'), shortcomings.get('stage')]).toMatchObject([[speex], [speex]])
  const { items } = await site().rpc('events.list', { groups: ['devices', 'people'] })
  // Both are seen by the media program on its own: whichever it reports first comes first in the log.
  const shortOf = (kind: string) => items.filter((each) => each.kind === kind)
  expect(shortOf('person.short')).toMatchObject([
    { subject: { id: 'stage', name: 'Stage' }, params: { ...speex, room: 'Stage' } },
  ])
  expect(shortOf('device.short')).toMatchObject([{ subject: { id: 'gate', name: 'Gate' }, params: speex }])
})
