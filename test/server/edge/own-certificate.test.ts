import { X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises'
import https from 'node:https'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ownCertificate } from '../../../server/edge/own-certificate.ts'
import { certificateToTrust } from '../../../server/edge/tls.ts'

/** Connects to a port with this certificate as a client that trusts one authority, and requests a host by name or address. */
async function ask(pair: { cert: string; key: string }, ca: string): Promise<number | undefined> {
  const server = https.createServer(pair, (_, response) => response.end()).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const sent = https.get({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, ca, agent: false })
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}

test('A client that trusts the authority of a site accepts its certificate and the next one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-tls-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const first = await ownCertificate(folder)
  const { der, subject, fingerprint } = certificateToTrust(first)
  const authority = new X509Certificate(der)
  expect(authority.ca).toBe(true)
  expect(new X509Certificate(first.cert).ca).toBe(false)
  // Browsers and BoringSSL refuse SHA-1.
  for (const { signatureAlgorithm } of [authority, new X509Certificate(first.cert)])
    expect(signatureAlgorithm).toBe('ecdsa-with-SHA256')
  expect([subject, fingerprint]).toEqual([expect.stringContaining('Roomdesk authority'), authority.fingerprint256])
  expect(await ask(first, authority.toString())).toBe(200)
  expect(await ownCertificate(folder)).toEqual(first)
  await rm(join(folder, 'self-signed.crt'))
  const second = await ownCertificate(folder)
  expect(second.key).not.toBe(first.key)
  expect(await ask(second, authority.toString())).toBe(200)
})

test('An authority that cannot be read for a moment stays the one that devices trust', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-tls-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await ownCertificate(folder)
  const [certificate, kept] = [join(folder, 'authority.crt'), join(folder, 'kept')]
  await rename(certificate, kept)
  // The file system refuses to follow a link to itself.
  await symlink(certificate, certificate)
  const key = await readFile(join(folder, 'authority.key'), 'utf8')
  await expect(ownCertificate(folder)).rejects.toThrow('ELOOP')
  expect(await readFile(join(folder, 'authority.key'), 'utf8')).toBe(key)
})
