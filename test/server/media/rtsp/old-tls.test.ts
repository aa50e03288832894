import { parseDeviceAddress } from '../../../../shared/device-address.ts'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import tls from 'node:tls'
import { beforeAll, expect, test } from 'vitest'
import { HostileCamera } from '../../../support/camera/hostile-camera.ts'
import { TestMediaNode } from '../../../support/media/media-node.ts'

let node: TestMediaNode
/** A key of 1,024 bits, and a certificate that is signed with SHA-1. */
let identity: { key: Buffer; cert: Buffer }
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'roomdesk-tls-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const made = ['req', '-x509', '-newkey', 'rsa:1024', '-sha1', '-nodes', '-days', '2', '-subj', '/CN=camera']
  execFileSync('openssl', [...made, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  identity = { key: readFileSync(key), cert: readFileSync(cert) }
  rmSync(folder, { recursive: true })
  node = await TestMediaNode.start({ settings: { trust_any_certificate: true } })
  await node.openRoom('room')
  return async () => {
    await node.stop()
  }
})

/** A camera behind TLS of some years ago. */
async function oldCamera(options: tls.TlsOptions): Promise<AsyncDisposable & { url: string }> {
  const camera = await HostileCamera.start({})
  const front = tls.createServer({ ...identity, ciphers: 'ALL:@SECLEVEL=0', ...options }, (socket) => {
    const plain = net.connect(camera.port, '127.0.0.1')
    socket.pipe(plain).pipe(socket)
    socket.on('error', () => plain.destroy())
    plain.on('error', () => socket.destroy())
  })
  front.on('tlsClientError', () => {}).listen(0, '127.0.0.1')
  await once(front, 'listening')
  const at = front.address()
  return {
    url: `rtsps://127.0.0.1:${typeof at === 'object' ? (at?.port ?? 0) : 0}/live`,
    [Symbol.asyncDispose]: async () => {
      front.close()
      await camera[Symbol.asyncDispose]()
    },
  }
}

test.each(['TLSv1', 'TLSv1.1'] as const)(
  'a camera that speaks %s alone joins once outdated TLS is allowed for it',
  async (version) => {
    await using camera = await oldCamera({ minVersion: version, maxVersion: version })
    const { url } = camera
    const address = parseDeviceAddress(url)
    await expect(node.addDevice('room', version, url)).rejects.toMatchObject({ kind: 'oldTls' })
    expect(await node.request('probe', { address })).toMatchObject({ ok: false, kind: 'oldTls' })
    expect(await node.request('probe', { address, oldTls: true })).toMatchObject({ ok: true })
    await node.addDevice('room', version, url, { oldTls: true })
    expect(await node.stream('room', version)).toMatchObject({ video_codec: 'H264', shortcomings: [] })
    expect(node.events.filter(({ type }) => type === 'streamShort')).toEqual([])
  },
)

test('a camera with TLS 1.2 that supports only RSA key exchange joins without a setting', async () => {
  await using camera = await oldCamera({ ciphers: 'AES128-GCM-SHA256:@SECLEVEL=0', maxVersion: 'TLSv1.2' })
  await node.addDevice('room', 'rsa', camera.url)
  expect(await node.stream('room', 'rsa')).toMatchObject({ video_codec: 'H264', shortcomings: [] })
})
