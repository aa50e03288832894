import { type ChildProcess, spawn } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { checkPushAddress } from '../../../../server/recordings/live/push-address.ts'
import { redacted } from '../../../../server/recordings/live/rtmp-push.ts'
import { freePort } from '../../../support/free-port.ts'
import { filmedSite, shortFilm } from '../../../support/sites/filmed-site.ts'

/** A live stream goes to an RTMP server: a real one, ffmpeg that listens. */

vi.setConfig({ testTimeout: 180_000 })

/** Starts an RTMP server that writes what it is sent into a file. */
function receive(port: number, file: string): ChildProcess {
  const parameters = ['-v', 'error', '-y', '-listen', '1', '-i', `rtmp://127.0.0.1:${port}/app/secret-key`]
  const server = spawn('ffmpeg', [...parameters, '-c', 'copy', '-f', 'flv', '-flush_packets', '1', file], {
    stdio: 'ignore',
  })
  onTestFinished(() => void server.kill('SIGKILL'))
  return server
}

const sizeOf = async (file: string): Promise<number> => (await stat(file).catch(() => ({ size: 0 }))).size

test('A live stream is pushed, comes back after the server was away, ends with stop, and its key is in no log', async () => {
  const site = await filmedSite({ door: shortFilm })
  const port = await freePort()
  const [first, second] = [join(site.folder, 'first.flv'), join(site.folder, 'second.flv')]
  const server = receive(port, first)
  const publish_url = `rtmp://localhost:${port}/app/secret-key`
  const live = await site.client.get('/rtc/live/start', { room_id: site.roomId, user_id: 'door', publish_url })
  expect(live).toMatchObject({ ret: 0 })
  expect(JSON.stringify(live)).not.toContain('secret-key')
  await expect.poll(() => sizeOf(first), { timeout: 60_000 }).toBeGreaterThan(10_000)
  server.kill('SIGKILL')
  receive(port, second)
  await expect.poll(() => sizeOf(second), { timeout: 60_000 }).toBeGreaterThan(10_000)
  await site.client.get('/rtc/live/stop', { id: String(live.id) })
  expect(site.logged.join('')).not.toContain('secret-key')
  expect(JSON.stringify([...site.store.all('lives').values()])).not.toContain('secret-key')
})

test('An address that leads to this site, outside of the allowed networks, or to no RTMP server is refused', async () => {
  const site = await filmedSite({ door: shortFilm })
  const start = (publish_url: string) =>
    site.client.get('/rtc/live/start', { room_id: site.roomId, user_id: 'door', publish_url })
  expect(await start('http://example.org/a')).toMatchObject({ ret: 407, msg: expect.stringContaining('rtmp://') })
  site.settings().live.push_networks = ['192.0.2.0/24']
  expect(await start('rtmp://127.0.0.1/app/key')).toMatchObject({ ret: 407, msg: expect.stringContaining('allow') })
  expect(site.store.all('lives').size).toBe(0)
})

test('The name of a server is resolved once, and what was checked is what is called', async () => {
  const here = { networks: [], sitePorts: [7080] }
  const lookup =
    (address: string, family = 4) =>
    async () => [{ address, family }]
  await expect(checkPushAddress('rtmp://evil.example:7080/a/k', here, lookup('127.0.0.1'))).rejects.toThrow('allow')
  await expect(checkPushAddress('rtmp://evil.example:7080/a/k', here, lookup('::1', 6))).rejects.toThrow('allow')
  expect(await checkPushAddress('rtmp://live.example/app/key?x=1', here, lookup('192.0.2.7'))).toEqual({
    url: 'rtmp://192.0.2.7:1935/app/key?x=1',
    tcUrl: 'rtmp://live.example/app',
    shown: 'rtmp://live.example:1935',
  })
  expect(
    redacted('Error opening rtmp://192.0.2.7:1935/app/topsecret: refused', 'rtmp://192.0.2.7:1935/app/topsecret'),
  ).toBe('Error opening … refused'.replace('… ', '…: '))
})
