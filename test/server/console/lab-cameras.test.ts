import net from 'node:net'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import type { ProcedureInput, ProcedureOutput } from '../../../shared/console/contract.ts'
import { shared } from '../../support/fixtures.ts'
import { MediaSite } from '../../support/sites/media-site.ts'

type CameraInput = ProcedureInput<'lab.put_camera'>
type Camera = ProcedureOutput<'lab.put_camera'>

const site = shared(() => MediaSite.start())

/** Adds a camera to the site of all tests, until the test has ended. */
async function putCamera(camera: CameraInput): Promise<Camera> {
  const made = await site().rpc('lab.put_camera', camera)
  onTestFinished(async () => void (await site().rpc('lab.remove_camera', { camera: camera.name })))
  return made
}

/** Puts a camera into a room of its own in one step, and waits until it has joined. */
async function joined(camera: string): Promise<ProcedureOutput<'lab.camera_to_room'>> {
  const { room_id } = await site().rpc('rooms.create', { topic: 'Lab' })
  const device = await site().rpc('lab.camera_to_room', { camera, room_id })
  await hasJoined(device.userId)
  return device
}

const hasJoined = async (userId: string): Promise<void> =>
  expect.poll(async () => (await site().device(userId)).state, { timeout: 10_000 }).toBe('joined')

async function clientsOf(camera: string): Promise<Camera['clients']> {
  const cameras = await site().rpc('lab.cameras', {})
  return cameras.find(({ name }) => name === camera)?.clients ?? []
}

test('a test camera is added, put into a room in one step, and shows its client', async () => {
  const made = await putCamera({ name: 'door', auth: 'digest', password: 'p-1', behaviours: ['no-cseq'] })
  expect(made).toMatchObject({ name: 'door', problem: null, network_url: '', clients: [] })
  expect(made.port).toBeGreaterThanOrEqual(18_554)
  expect(await joined('door')).toMatchObject({ userName: 'door', userAddress: made.url })
  const playing = async () => (await clientsOf('door')).map(({ state, transport }) => `${state} ${transport ?? ''}`)
  await expect.poll(playing).toContain('playing tcp')
})

test('a changed camera restarts at its port, with its new behaviours', async () => {
  const before = await putCamera({ name: 'gate', auth: 'digest', password: 'p-1', behaviours: ['no-cseq'] })
  const { userId } = await joined('gate')
  const changed: CameraInput = { name: 'gate', auth: 'digest', password: 'p-1', behaviours: ['stall=1'] }
  const after = await site().rpc('lab.put_camera', changed)
  expect(after).toMatchObject({ port: before.port, problem: null })
  await hasJoined(userId)
  await expect
    .poll(async () => (await clientsOf('gate')).some(({ state }) => state === 'stalled'), { timeout: 10_000 })
    .toBe(true)
})

test('a port in use, bad behaviours and an unknown camera are refused', async () => {
  const other = net.createServer().listen(0, '0.0.0.0')
  await once(other, 'listening')
  const address = other.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  await expect(site().rpc('lab.put_camera', { name: 'other', port })).rejects.toThrow(String(port))
  other.close()
  await expect(site().rpc('lab.put_camera', { name: 'other', behaviours: ['lock-after'] })).rejects.toThrow()
  await expect(site().rpc('lab.put_camera', { name: '../x' })).rejects.toThrow()
  await expect(site().rpc('lab.remove_camera', { camera: 'none' })).rejects.toThrow('no longer exists')
  await expect(site().rpc('lab.camera_to_room', { camera: 'none', room_id: '1' })).rejects.toThrow('no longer exists')
})

test('cameras are back after a restart, and gone after their removal', async () => {
  let own = await MediaSite.start()
  onTestFinished(() => own[Symbol.asyncDispose]())
  const { port } = await own.rpc('lab.put_camera', { name: 'door', auth: 'digest', password: 'p-1' })
  await own.controller.stop(0)
  own = await MediaSite.start({ folder: own.folder })
  await expect
    .poll(async () => (await own.rpc('lab.cameras', {}))[0], { timeout: 10_000 })
    .toMatchObject({ name: 'door', port, problem: null })
  await own.rpc('lab.remove_camera', { camera: 'door' })
  expect(await own.rpc('lab.cameras', {})).toEqual([])
})
