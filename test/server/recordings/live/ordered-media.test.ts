import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type RunningTestCamera, startTestCamera } from '../../../support/camera/test-camera.ts'
import { folderHolds } from '../../../support/recordings/written-media.ts'
import { MediaSite } from '../../../support/sites/media-site.ts'

/** A real camera on a real node, recorded and watched live by scripts. */

const run = promisify(execFile)
vi.setConfig({ testTimeout: 180_000 })

let recordings: string
let camera: RunningTestCamera
let site: MediaSite
let roomId: string
beforeAll(async () => {
  recordings = await mkdtemp(join(tmpdir(), 'roomdesk-recordings-'))
  ;[site, camera] = await Promise.all([MediaSite.start({ recordings }), startTestCamera({ sound: 'pcmu' })])
  roomId = await site.api.createRoom()
  await vi.waitFor(async () => expect(await site.join(roomId, 'door', camera.url)).toMatchObject({ ret: 0 }), {
    timeout: 60_000,
    interval: 500,
  })
}, 120_000)
afterAll(async () => {
  camera.close()
  await site[Symbol.asyncDispose]()
  await rm(recordings, { recursive: true, force: true })
})

async function codecsOf(input: string, ...options: string[]): Promise<string> {
  const { stdout } = await run('ffprobe', [
    ...options,
    '-v',
    'error',
    '-show_entries',
    'stream=codec_name',
    '-of',
    'csv=p=0',
    input,
  ])
  return stdout
    .trim()
    .split('\n')
    .filter((line, index, all) => line !== '' && all.indexOf(line) === index)
    .join(' ')
}

test('A script records a camera and the whole room, and downloads the files; the console lists both', async () => {
  const start = (params: Record<string, string>) => site.api.get('/rtc/recording/start', { room_id: roomId, ...params })
  const one = await start({ user_id: 'door', name: 'Door', container: 'mp4' })
  const all = await start({ name: 'Everything' })
  expect([one, all]).toMatchObject([
    { ret: 0, user_id: 'door' },
    { ret: 0, user_id: '' },
  ])
  const get = (id: unknown) => site.api.get('/rtc/recording/get', { id: String(id) })
  await expect.poll(async () => (await get(one.id)).state, { timeout: 30_000 }).toBe('recording')
  await folderHolds(recordings, 2_500)
  for (const { id } of [one, all]) {
    expect(await site.api.get('/rtc/recording/stop', { id: String(id) })).toMatchObject({ ret: 0 })
    await expect.poll(async () => (await get(id)).state, { timeout: 60_000 }).toBe('available')
    const { files } = (await get(id)) as {
      ret: number
      files: { url: string; user_id: string; duration_ms: number }[]
    }
    expect(files).toMatchObject([{ user_id: 'door', source: 'main' }])
    expect(files[0]?.duration_ms).toBeGreaterThan(2_000)
    const path = join(site.folder, `${String(id)}.mp4`)
    await writeFile(path, Buffer.from(await (await fetch(files[0]?.url ?? '')).arrayBuffer()))
    expect(await codecsOf(path)).toContain('h264')
  }
  const listed = await site.rpc('orders.recordings', { room_id: roomId })
  expect(listed).toMatchObject({ total: 2, items: [{ name: 'Everything' }, { name: 'Door', state: 'available' }] })

  // Addresses that ended are replaced by new ones; the earlier ones stay void.
  const addressOf = async (): Promise<string> => {
    const { items } = await site.rpc('orders.recordings', { room_id: roomId })
    return items.find(({ id }) => id === one.id)?.files[0]?.url ?? 'none'
  }
  const before = await addressOf()
  const { items: open } = await site.rpc('capabilities.list', { room_id: roomId })
  await site.rpc('capabilities.revoke', { ids: open.map(({ id }) => id) })
  expect([await addressOf(), (await fetch(before)).status]).toEqual(['', 404])
  await site.rpc('orders.renew_recording', { id: String(one.id) })
  expect((await fetch(await addressOf())).status).toBe(200)
  expect((await fetch(before)).status).toBe(404)
  expect(await site.rpc('orders.delete_recording', { id: String(one.id) })).toEqual({})
  expect(await get(one.id)).toMatchObject({ ret: 430 })
})

test('A camera without a recording is watched by HLS, and is not listed among the recordings', async () => {
  const link = await site.rpc('orders.live_link', { room_id: roomId, user_id: 'door' })
  await vi.waitFor(async () => expect((await fetch(link.hls_url)).status).toBe(200), { timeout: 60_000 })
  expect(await codecsOf(link.hls_url)).toContain('h264')
  expect((await site.rpc('recordings.states', {})).items).toEqual([])
})
