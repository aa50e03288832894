import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startTestCamera } from '../../support/camera/test-camera.ts'
import { startJanus } from '../../support/janus/janus-server.ts'
import { MediaSite } from '../../support/sites/media-site.ts'

test('a room on a Janus server is not recorded, and the reason says what to do; after that it is recorded', {
  timeout: 90_000,
}, async () => {
  const recordings = await mkdtemp(join(tmpdir(), 'roomdesk-recordings-'))
  await using janus = await startJanus()
  await using camera = await startTestCamera()
  const site = await MediaSite.start({
    recordings,
    nodes: [janus.asNode('north'), { name: 'here', kind: 'embedded' }],
    settings: { recording: { free_gigabytes: 0.1, free_percent: 0 } },
  })
  try {
    const online = async () => (await site.rpc('nodes.list', {})).every(({ state }) => state === 'online')
    await site.until(async () => site.nodeUrl !== '' && (await online()), 45_000)
    await site.rpc('nodes.drain', { name: 'here' })
    const { room_id } = await site.rpc('rooms.create', { topic: 'Yard' })
    const nodeOf = async () => (await site.rpc('rooms.get', { room_id })).room.node
    await site.api.get('/sdk/get_mcu', { room_id })
    expect(await nodeOf()).toBe('north')
    const reason = /this room is on north\. Drain north on the Nodes page/
    await expect(site.rpc('recordings.start', { room_id })).rejects.toThrow(reason)
    expect(await site.rpc('recordings.rule', { room_id })).toMatchObject({
      possible: false,
      problem: expect.stringMatching(reason),
    })
    const ordered = await site.api.get('/rtc/recording/start', { room_id, name: 'Night' })
    expect(ordered).toMatchObject({ msg: expect.stringMatching(reason) })
    expect(ordered.ret).not.toBe(0)

    await site.rpc('nodes.undrain', { name: 'here' })
    await site.rpc('nodes.drain', { name: 'north' })
    await site.api.get('/sdk/get_mcu', { room_id })
    expect(await nodeOf()).toBe('here')
    await site.rpc('devices.create', { roomId: room_id, userId: 'yard', userName: 'Yard', userAddress: camera.url })
    await site.rpc('recordings.start', { room_id })
    const target = async () => (await site.rpc('recordings.states', { room_ids: [room_id] })).items[0]
    await expect.poll(target, { timeout: 20_000 }).toMatchObject({ recording: true, hindrance: null })
  } finally {
    await site[Symbol.asyncDispose]()
    await rm(recordings, { recursive: true, force: true })
  }
})
