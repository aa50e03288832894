import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import net, { type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import tls from 'node:tls'
import { generate } from 'selfsigned'
import { expect, onTestFinished, test, vi } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { receiveRtmp, sizeOf } from '../support/recordings/rtmp-server.ts'
import { type FilmedSite, filmedSite, shortFilm } from '../support/sites/filmed-site.ts'

/** Live streams over many seconds: the playlist of HLS slides, and a push comes back. The RTMP server is a real one, ffmpeg that listens. */

vi.setConfig({ testTimeout: 180_000 })

/** Puts TLS before a port, with this certificate. Returns the port. */
async function behindTls(port: number, { key, cert }: { key: string; cert: string }): Promise<number> {
  const server = tls.createServer({ key, cert }, (socket) => {
    const plain = net.connect(port, '127.0.0.1')
    pipeline(socket, plain, socket, () => {})
  })
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

test('A live stream is pushed, resumes after an outage of the server, and ends with stop; its key is in no log', async () => {
  const site = await filmedSite({ door: shortFilm })
  const port = await freePort()
  const [first, second] = [join(site.folder, 'first.flv'), join(site.folder, 'second.flv')]
  const server = receiveRtmp(port, first)
  site.settings().live.push_networks = ['127.0.0.0/8', '::1']
  const publish_url = `rtmp://localhost:${port}/app/secret-key`
  const live = await site.client.get('/rtc/live/start', { room_id: site.roomId, user_id: 'door', publish_url })
  expect(live).toMatchObject({ ret: 0 })
  expect(JSON.stringify(live)).not.toContain('secret-key')
  await expect.poll(() => sizeOf(first), { timeout: 60_000 }).toBeGreaterThan(10_000)
  server.kill('SIGKILL')
  receiveRtmp(port, second)
  await expect.poll(() => sizeOf(second), { timeout: 60_000 }).toBeGreaterThan(10_000)
  await site.client.get('/rtc/live/stop', { id: String(live.id) })
  expect(site.logged.join('')).not.toContain('secret-key')
  expect(JSON.stringify([...site.store.all('lives').values()])).not.toContain('secret-key')
})

async function link(
  site: FilmedSite,
  userId: string,
): Promise<{ ret: number; hls_url: string; page_url: string; expires_at: number }> {
  const answer = await site.client.get('/rtc/live/link', { room_id: site.roomId, user_id: userId, ttl: 600 })
  expect(answer).toMatchObject({ ret: 0 })
  return answer as Awaited<ReturnType<typeof link>>
}

/** The playlist once there is one. */
async function playlist(url: string): Promise<string> {
  return await vi.waitFor(
    async () => {
      const answer = await fetch(url)
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/vnd.apple.mpegurl'])
      return await answer.text()
    },
    { timeout: 60_000, interval: 200 },
  )
}

const valueOf = (text: string, tag: string): number => Number(new RegExp(`#EXT-X-${tag}:(\\d+)`).exec(text)?.[1])

test('The playlist slides: old fragments leave, and numbers and discontinuities continue', async () => {
  const site = await filmedSite({ door: shortFilm }, { segmentMs: 4_000 })
  const { hls_url } = await link(site, 'door')
  const first = await playlist(hls_url)
  const slid = await vi.waitFor(
    async () => {
      const text = await playlist(hls_url)
      expect(valueOf(text, 'DISCONTINUITY-SEQUENCE')).toBeGreaterThan(0)
      return text
    },
    { timeout: 110_000, interval: 1_000 },
  )
  expect(valueOf(slid, 'MEDIA-SEQUENCE')).toBeGreaterThan(valueOf(first, 'MEDIA-SEQUENCE'))
  const seconds = [...slid.matchAll(/#EXTINF:([\d.]+)/g)].reduce((sum, [, length]) => sum + Number(length), 0)
  expect(seconds).toBeGreaterThanOrEqual(30)
  expect(seconds).toBeLessThan(36)
})

test('A live stream is pushed over TLS to a server whose certificate is trusted, and to no other', async () => {
  const site = await filmedSite({ door: shortFilm })
  site.settings().live.push_networks = ['127.0.0.0/8', '::1']
  const plain = await freePort()
  const file = join(site.folder, 'by-tls.flv')
  receiveRtmp(plain, file)
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], { keyType: 'ec' })
  const port = await behindTls(plain, { key, cert })
  const order = { room_id: site.roomId, user_id: 'door', publish_url: `rtmps://localhost:${port}/app/secret-key` }
  const live = await site.client.get('/rtc/live/start', order)
  expect(live).toMatchObject({ ret: 0 })
  await expect.poll(() => site.logged.join(''), { timeout: 30_000 }).toContain('The certificate of localhost is not')
  expect(await sizeOf(file)).toBe(0)
  // The operator names the authority: the next attempt gets through.
  const authority = join(site.folder, 'authority.pem')
  await writeFile(authority, cert)
  site.settings().live.push_ca_file = authority
  await expect.poll(() => sizeOf(file), { timeout: 60_000 }).toBeGreaterThan(10_000)
  await site.client.get('/rtc/live/stop', { id: String(live.id) })
  expect(site.logged.join('')).not.toContain('secret-key')
})
