import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import tls from 'node:tls'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { HostileCamera } from '../../../support/camera/hostile-camera.ts'
import { h264Description } from '../../../support/camera/scripted-camera.ts'
import { TestMediaNode } from '../../../support/media/media-node.ts'

const sound = ['m=audio 0 RTP/AVP 8', 'a=control:track2', ''].join('\r\n')

test('a sound that the camera refuses is told with its answer, on the stream and as an event', async () => {
  await using camera = await HostileCamera.start({
    SETUP: (caller, request) => {
      if (request.url.endsWith('track2')) caller.answer(request, { startLine: 'RTSP/1.0 551 Option not supported' })
      else caller.usual(request)
    },
  })
  camera.description = h264Description + sound
  await using node = await TestMediaNode.start()
  await node.openRoom('room')
  await node.addDevice('room', 'cam', camera.url)
  const refused = {
    ...{ kind: 'audio', way: 'refused', reason: 'refused', recorded: false },
    detail: '551 Option not supported to SETUP of track 2 (G.711 A-law)',
  }
  expect(await node.stream('room', 'cam')).toMatchObject({ audio_codec: '', shortcomings: [refused] })
  await expect
    .poll(() => node.events.filter(({ type }) => type === 'deviceShort'))
    .toEqual([{ type: 'deviceShort', roomId: 'room', userId: 'cam', shortcomings: [refused] }])
})

test('a camera that speaks TLS 1.1 joins once its outdated TLS is accepted', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'roomdesk-tls-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const made = ['req', '-x509', '-newkey', 'rsa:1024', '-sha1', '-nodes', '-days', '2', '-subj', '/CN=camera']
  execFileSync('openssl', [...made, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  const options = { key: readFileSync(key), cert: readFileSync(cert), ciphers: 'ALL:@SECLEVEL=0' } as const
  rmSync(folder, { recursive: true })
  await using camera = await HostileCamera.start({})
  const front = tls.createServer({ ...options, minVersion: 'TLSv1', maxVersion: 'TLSv1.1' }, (socket) => {
    const plain = net.connect(camera.port, '127.0.0.1')
    socket.pipe(plain).pipe(socket)
    socket.on('error', () => plain.destroy())
    plain.on('error', () => socket.destroy())
  })
  front.on('tlsClientError', () => {}).listen(0, '127.0.0.1')
  await once(front, 'listening')
  const at = front.address()
  const url = `rtsps://127.0.0.1:${typeof at === 'object' ? (at?.port ?? 0) : 0}/live`
  try {
    await using node = await TestMediaNode.start({ settings: { trust_any_certificate: true } })
    await node.openRoom('room')
    await expect(node.addDevice('room', 'cam', url)).rejects.toMatchObject({ kind: 'oldTls' })
    expect(await node.request('probe', { address: url })).toMatchObject({ ok: false, kind: 'oldTls' })
    expect(await node.request('probe', { address: url, oldTls: true })).toMatchObject({ ok: true })
    await node.addDevice('room', 'cam', url, { oldTls: true })
    expect(await node.stream('room', 'cam')).toMatchObject({ video_codec: 'H264', shortcomings: [] })
    expect(node.events.filter(({ type }) => type === 'deviceShort')).toEqual([])
  } finally {
    front.close()
  }
})
