import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { ListenError } from '../../../server/edge/listen-error.ts'
import { forkMediaProcess } from '../../../server/nodes/embedded/fork-process.ts'
import { startCamera } from '../../support/camera/camera.ts'
import { SignalClient } from '../../support/media/signal-client.ts'
import { isAlive, MediaSite } from '../../support/sites/media-site.ts'

// Most of the time passes in deadlines.
vi.setConfig({ maxConcurrency: 4, testTimeout: 60_000 })

const folders: string[] = []
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))))

/** Writes a program that replaces the node's. */
async function program(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-program-'))
  folders.push(folder)
  const file = join(folder, 'program.mjs')
  await writeFile(file, text)
  return file
}

describe.concurrent('the process of the embedded node', () => {
  test('a killed node returns at its port with rooms and cameras, while the APIs answer throughout', async ({
    expect,
  }) => {
    await using camera = await startCamera()
    await using site = await MediaSite.start()
    const room = await site.api.createRoom({ host_password: 'open sesame' })
    expect(await site.join(room, 'door', camera.url('/cam'))).toMatchObject({ ret: 0 })
    const person = await SignalClient.join(site.nodeUrl, room, { host_password: 'open sesame' })
    // The controller cannot notice the departure of users that it has never seen.
    await site.until(async () => (await site.users(room)).length === 2)
    const url = site.nodeUrl
    const [first] = site.pids
    process.kill(site.pid, 'SIGKILL')
    await person.closed
    await site.until(async () => (await site.rpc('nodes.list', {}))[0]?.state === 'offline')
    expect(await site.rpc('nodes.list', {})).toMatchObject([{ last_error: expect.stringContaining('SIGKILL') }])
    expect(await site.api.get('/rtc/room/get', { room_id: room })).toMatchObject({ ret: 0, room_status: 0 })
    expect(await site.users(room)).toEqual([])
    expect(await site.api.outgoing('getOutgoingUsers')).toMatchObject({ ret: 304 })
    expect(await site.join(room, 'other', camera.url('/cam'))).toMatchObject({ ret: 302 })
    await site.until(async () => (await site.device('door')).state === 'joined')
    expect(site.pid).not.toBe(first)
    expect(site.nodeUrl).toBe(url)
    expect(await site.users(room)).toEqual(['door'])
    const again = await SignalClient.join(url, room, { host_password: 'open sesame' })
    expect(again.joined.people.map(({ user_id }) => user_id)).toContain('door')
    again.drop()
    const told = async () =>
      (await site.rpc('events.list', { groups: ['nodes', 'devices', 'people'] })).items.toReversed()
    const kinds = ['node.offline', 'device.lost', 'person.left', 'node.online', 'device.joined', 'person.joined']
    await expect
      .poll(async () => {
        const all = (await told()).map(({ kind }) => kind)
        return all.slice(all.indexOf('node.crashed'))
      })
      .toEqual(expect.arrayContaining(kinds))
    expect((await told()).find(({ kind }) => kind === 'node.crashed')?.params.error).toContain('SIGKILL')
  })

  test("a node that hangs: 310 within the clients' timeout, then another process replaces it", async () => {
    await using camera = await startCamera()
    await using site = await MediaSite.start({ hangsAfterMs: 6_000, settings: { deadlines: { health_ms: 1_000 } } })
    // A start may take longer than clients wait.
    await site.until(async () => (await site.rpc('nodes.list', {}))[0]?.state === 'online')
    const room = await site.api.createRoom()
    expect(await site.join(room, 'door', camera.url('/cam'))).toMatchObject({ ret: 0 })
    const { pid } = site
    process.kill(pid, 'SIGSTOP')
    const began = performance.now()
    expect(await site.join(room, 'late', camera.url('/pcma'))).toMatchObject({ ret: 310 })
    expect(performance.now() - began).toBeLessThan(5_000)
    await site.until(async () => (await site.rpc('nodes.list', {}))[0]?.state === 'offline')
    const known = performance.now()
    expect(await site.join(room, 'later', camera.url('/pcma'))).toMatchObject({ ret: 310 })
    const destroyed = { roomId: room, userId: 'door', userAddress: camera.url('/cam') }
    expect(await site.api.outgoing('destroyOutgoingUser', destroyed)).toMatchObject({ ret: 310 })
    expect(await site.api.outgoing('getOutgoingUsers')).toMatchObject({ ret: 310 })
    expect(performance.now() - known).toBeLessThan(1_000)
    await site.until(() => site.pid !== pid, 30_000)
    await site.until(async () => (await site.device('door')).state === 'joined')
    expect(isAlive(pid)).toBe(false)
    expect(site.logged.join('')).toContain('hangs')
  })

  test('a stop of the controller ends it, even if it hangs', async () => {
    await using site = await MediaSite.start({ settings: { deadlines: { shutdown_ms: 500 } } })
    process.kill(site.pid, 'SIGSTOP')
    await site.stop()
    expect(isAlive(site.pid)).toBe(false)
  })

  test('after a restart of the controller its cameras return, and earlier join links are valid', async () => {
    await using camera = await startCamera({ auth: 'digest', password: '密码@:/?#%' })
    const first = await MediaSite.start()
    const room = await first.api.createRoom()
    const login = { login_name: 'admin', login_password: '密码@:/?#%' }
    expect(await first.join(room, 'door', camera.url('/cam'), login)).toMatchObject({ ret: 0 })
    const { url } = await first.rpc('media.join_link', { room_id: room })
    await first.stop()
    expect(isAlive(first.pid)).toBe(false)
    await using second = await MediaSite.start({ folder: first.folder })
    await second.until(async () => (await second.device('door')).state === 'joined')
    expect(await second.users(room)).toEqual(['door'])
    const token = new URL(url).hash.replace('#token=', '')
    const person = await SignalClient.join(second.nodeUrl, room, { token })
    expect(person.joined.people.map(({ user_id }) => user_id)).toContain('door')
    person.drop()
  })

  test('a port in use is reported by number, and no process keeps running', async () => {
    const taken = net.createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as net.AddressInfo
    const attempt = MediaSite.start({ nodePort: port })
    await expect(attempt).rejects.toThrow(ListenError)
    await expect(attempt).rejects.toMatchObject({ listener: 'node', port, code: 'EADDRINUSE' })
    taken.close()
  })

  test('a program that cannot run does not affect the APIs: the node is offline with the reason', async () => {
    await using site = await MediaSite.start({
      spawn: forkMediaProcess(join(import.meta.dirname, 'no-such-program.js')),
    })
    const room = await site.api.createRoom()
    expect(await site.api.get('/sdk/get_mcu', { room_id: room })).toMatchObject({ ret: 410 })
    expect(await site.rpc('nodes.list', {})).toMatchObject([
      { state: 'offline', last_error: expect.stringContaining('exit code 1') },
    ])
    expect(site.nodeUrl).toBe('')
  })

  test('a silent program does not delay the APIs', async () => {
    const silent = await program('setInterval(() => {}, 1_000)')
    await using other = await MediaSite.start({
      spawn: forkMediaProcess(silent),
      settings: { deadlines: { health_ms: 1_000 } },
    })
    // It still has time to answer.
    expect(other.logged.join('')).not.toContain('next_start_ms')
    const room = await other.api.createRoom()
    expect(await other.api.get('/sdk/get_mcu', { room_id: room })).toMatchObject({ ret: 410 })
    await other.stop()
    expect(other.pids.filter(isAlive)).toEqual([])
  })

  test('a program that ends before it answers is restarted after increasing delays', async () => {
    const crashing = await program('process.exit(3)')
    await using other = await MediaSite.start({ spawn: forkMediaProcess(crashing) })
    await other.until(() => other.logged.filter((line) => line.includes('next_start_ms')).length >= 3, 15_000)
    const waits = other.logged.flatMap((line) => /"next_start_ms":(\d+)/.exec(line)?.[1] ?? []).map(Number)
    expect(waits.slice(0, 3)).toEqual([1_000, 2_000, 4_000])
  })
})

test.concurrent('a user who was forced offline stays out after a restart of the controller, and joins by a new link', async () => {
  const first = await MediaSite.start()
  const room = await first.api.createRoom()
  await first.api.get('/sdk/get_mcu', { room_id: room })
  const token = async (site: MediaSite): Promise<string> =>
    new URL((await site.rpc('media.join_link', { room_id: room })).url).hash.replace('#token=', '')
  const old = await token(first)
  const browser = 'a browser of one person'
  const { joined } = await SignalClient.join(first.nodeUrl, room, { token: old, browser })
  const kick = { room_id: room, user_id: joined.you.user_id }
  expect(await first.api.get('/rtc/force_offline_mcu', kick)).toMatchObject({ ret: 0 })
  await first.stop()
  await using second = await MediaSite.start({ folder: first.folder })
  await expect(SignalClient.join(second.nodeUrl, room, { token: old, browser })).rejects.toMatchObject({
    reason: 'removed',
  })
  // Other users of the same link are admitted, and the same user by a new one.
  const other = await SignalClient.join(second.nodeUrl, room, { token: old, browser: 'that of somebody else' })
  other.drop()
  const again = await SignalClient.join(second.nodeUrl, room, { token: await token(second) })
  again.drop()
})

test.concurrent('a user who was forced offline stays out after the media process was replaced', async () => {
  await using site = await MediaSite.start()
  const room = await site.api.createRoom()
  await site.api.get('/sdk/get_mcu', { room_id: room })
  const token = async (wish: { user_id?: string }): Promise<string> => {
    const { url } = await site.rpc('media.join_link', { room_id: room, ...wish })
    return new URL(url).hash.replace('#token=', '')
  }
  const bound = await token({ user_id: 'anna' })
  const unbound = await token({})
  const browser = 'a browser of one person'
  const people = [
    await SignalClient.join(site.nodeUrl, room, { token: bound }),
    await SignalClient.join(site.nodeUrl, room, { token: unbound, browser }),
  ]
  for (const { joined } of people) {
    const kick = { room_id: room, user_id: joined.you.user_id }
    expect(await site.api.get('/rtc/force_offline_mcu', kick)).toMatchObject({ ret: 0 })
  }
  const { pid } = site
  process.kill(pid, 'SIGKILL')
  await site.until(async () => site.pid !== pid && (await site.rpc('nodes.list', {}))[0]?.state === 'online')
  await site.until(async () => {
    const { connections } = await site.rpc('media.stats', {})
    const again = await SignalClient.join(site.nodeUrl, room, { token: await token({}) }).catch(() => undefined)
    again?.drop()
    return again !== undefined && connections.length === 0
  })
  for (const old of [bound, unbound, await token({ user_id: 'anna' })]) {
    await expect(SignalClient.join(site.nodeUrl, room, { token: old, browser })).rejects.toMatchObject({
      reason: 'removed',
    })
  }
})
