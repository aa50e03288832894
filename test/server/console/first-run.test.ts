import { once } from 'node:events'
import net from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import type { ProcedureInput, ProcedureName } from '../../../shared/console/contract.ts'
import { MediaSite } from '../../support/sites/media-site.ts'
import { step } from '../../support/step.ts'

test('the first run of a new site, with a restart', { timeout: 120_000 }, async () => {
  let site = await MediaSite.start()
  onTestFinished(() => site[Symbol.asyncDispose]())

  const run = async <N extends ProcedureName>(name: N, input: ProcedureInput<N>) => site.rpc(name, input)
  const isFresh = async (): Promise<boolean> => (await run('overview.get', undefined)).fresh

  await step('a new site starts with the first run, which stores its progress', async () => {
    expect(await run('first_run.get', undefined)).toMatchObject({
      purpose: '',
      step: 'purpose',
      room: null,
      camera: '',
    })
    expect(await isFresh()).toBe(true)
    await run('first_run.save', { purpose: 'site' })
    await run('first_run.save', { step: 'network' })
    expect(await run('first_run.get', undefined)).toMatchObject({ purpose: 'site', step: 'network', open: false })
    await run('settings.set', { console: { language: 'de' } })
    expect(await run('first_run.get', undefined)).toMatchObject({ purpose: 'site', step: 'network' })
    await expect(run('first_run.save', { step: 'nowhere' as 'room' })).rejects.toThrow()
  })

  await step(
    'the room is created once, however often and concurrently it is requested, and can be renamed',
    async () => {
      const made = await Promise.all([1, 2, 3].map(() => run('first_run.make_room', { topic: 'Lobby' })))
      expect(new Set(made.map(({ room_id }) => room_id)).size).toBe(1)
      const { room_id } = await run('first_run.make_room', { topic: 'Reception' })
      const { items } = await run('rooms.list', {})
      expect(items.map((room) => [room.room_id, room.topic])).toEqual([[room_id, 'Reception']])
      // It goes on although there is a room now.
      expect(await isFresh()).toBe(true)
    },
  )

  await step('the test camera joins the room with real pictures, once', async () => {
    const [one, other] = await Promise.all(
      [1, 2].map(() => run('first_run.add_test_camera', { userName: 'Test camera' })),
    )
    expect(one?.userId).toBe(other?.userId)
    expect(await run('first_run.get', undefined)).toMatchObject({ camera: one?.userId })
    await expect.poll(async () => (await run('devices.list', {})).map(({ state }) => state)).toEqual(['joined'])
    await expect.poll(async () => (await run('media.stats', {})).streams[0]?.frames ?? 0).toBeGreaterThan(12)
    const [stream] = (await run('media.stats', {})).streams
    expect(stream).toMatchObject({ video_codec: 'H264', shortcomings: [] })
  })

  await step('after a restart the test camera is back, at another port if its own is in use', async () => {
    const [before] = await run('devices.list', {})
    const port = Number(new URL(before?.userAddress ?? '').port)
    await site.controller.stop(0)
    const squatter = net.createServer((socket) => socket.destroy()).listen(port, '127.0.0.1')
    site = await MediaSite.start({ folder: site.folder })
    try {
      const portNow = async () => new URL((await run('devices.list', {}))[0]?.userAddress ?? '').port
      await expect.poll(portNow).not.toBe(String(port))
      expect((await run('devices.list', {}))[0]?.userId).toBe(before?.userId)
      await expect.poll(async () => (await run('devices.list', {}))[0]?.state).toBe('joined')
      expect(await run('first_run.get', undefined)).toMatchObject({ purpose: 'site', room: { topic: 'Reception' } })
    } finally {
      squatter.close()
    }
  })

  await step('the test camera outlives its device, and ends when it is removed from the lab', async () => {
    const [device] = await run('devices.list', {})
    const { userId = '', userAddress = '' } = device ?? {}
    const watched = net.connect(Number(new URL(userAddress).port), '127.0.0.1')
    await once(watched, 'connect')
    const ended = once(watched, 'close')
    await run('devices.remove', { userIds: [userId] })
    expect(await run('lab.cameras', {})).toMatchObject([{ name: 'test-camera', url: userAddress, problem: null }])
    await run('lab.remove_camera', { camera: 'test-camera' })
    await ended
    expect(await run('lab.cameras', {})).toEqual([])
  })

  await step('a camera is added once by its address; one deleted meanwhile is removed from the first run', async () => {
    const camera = { userName: 'Gate', userAddress: 'rtsp://127.0.0.1:9/gate' }
    const { userId } = await run('first_run.add_camera', camera)
    const again = await run('first_run.add_camera', { ...camera, login_name: 'admin', login_password: 'secret' })
    expect(again.userId).toBe(userId)
    expect(again.options).toMatchObject({ login_name: 'admin' })
    await run('devices.remove', { userIds: [userId] })
    const { camera: left, room } = await run('first_run.get', undefined)
    expect(left).toBe('')
    await run('rooms.delete', { room_ids: [room?.room_id ?? ''] })
    expect(await run('first_run.get', undefined)).toMatchObject({ room: null, room_deleted: true, camera: '' })
    await expect(run('first_run.add_camera', camera)).rejects.toThrow('There is no such room')
    const { room_id } = await run('first_run.make_room', { topic: 'Again' })
    expect(room_id).not.toBe(room?.room_id)
  })

  await step('once dismissed, the first run is no longer shown', async () => {
    await run('overview.dismiss_welcome', undefined)
    expect(await isFresh()).toBe(false)
  })
})
