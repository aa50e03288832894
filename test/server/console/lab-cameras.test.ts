import net from 'node:net'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ProcedureInput, ProcedureName } from '../../../shared/console/contract.ts'
import { MediaSite } from '../../support/sites/media-site.ts'

let site: MediaSite

beforeAll(async () => {
  site = await MediaSite.start()
})
afterAll(() => site[Symbol.asyncDispose]())

const run = async <N extends ProcedureName>(name: N, input: ProcedureInput<N>) => site.rpc(name, input)
const cameras = async () => run('lab.cameras', {})

test('a test camera is added, put into a room in one step, and shows its client', async () => {
  const made = await run('lab.put_camera', { name: 'door', auth: 'digest', password: 'p-1', behaviours: ['no-cseq'] })
  expect(made).toMatchObject({ name: 'door', problem: null, network_url: '', clients: [] })
  expect(made.port).toBeGreaterThanOrEqual(18_554)
  const { room_id } = await run('rooms.create', { topic: 'Lab' })
  const device = await run('lab.camera_to_room', { camera: 'door', room_id })
  expect(device).toMatchObject({ userName: 'door', userAddress: made.url })
  await expect.poll(async () => (await run('devices.list', {}))[0]?.state, { timeout: 10_000 }).toBe('joined')
  const playing = async () => (await cameras())[0]?.clients.map(({ state, transport }) => `${state} ${transport ?? ''}`)
  await expect.poll(playing).toContain('playing tcp')
})

test('a changed camera restarts at its port, with its new behaviours', async () => {
  const [before] = await cameras()
  const after = await run('lab.put_camera', { name: 'door', auth: 'digest', password: 'p-1', behaviours: ['stall=1'] })
  expect(after).toMatchObject({ port: before?.port, problem: null })
  await expect.poll(async () => (await run('devices.list', {}))[0]?.state, { timeout: 10_000 }).toBe('joined')
  await expect
    .poll(async () => (await cameras())[0]?.clients.some(({ state }) => state === 'stalled'), { timeout: 10_000 })
    .toBe(true)
})

test('a port in use, bad behaviours and an unknown camera are refused', async () => {
  const other = net.createServer().listen(0, '0.0.0.0')
  await once(other, 'listening')
  const address = other.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  await expect(run('lab.put_camera', { name: 'other', port })).rejects.toThrow(String(port))
  other.close()
  await expect(run('lab.put_camera', { name: 'other', behaviours: ['lock-after'] })).rejects.toThrow()
  await expect(run('lab.put_camera', { name: '../x' })).rejects.toThrow()
  await expect(run('lab.remove_camera', { camera: 'none' })).rejects.toThrow('no longer exists')
  await expect(run('lab.camera_to_room', { camera: 'none', room_id: '1' })).rejects.toThrow('no longer exists')
})

test('cameras are back after a restart, and gone after their removal', async () => {
  const [before] = await cameras()
  await site.controller.stop(0)
  site = await MediaSite.start({ folder: site.folder })
  await expect
    .poll(async () => (await cameras())[0], { timeout: 10_000 })
    .toMatchObject({
      name: 'door',
      port: before?.port,
      problem: null,
    })
  await run('lab.remove_camera', { camera: 'door' })
  expect(await cameras()).toEqual([])
})
