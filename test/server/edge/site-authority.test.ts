import { execFile } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { ownCertificate } from '../../../server/edge/own-certificate.ts'
import { signCertificate } from '../../../server/edge/site-authority.ts'
import { type SiteNames, siteNames } from '../../../server/edge/site-names.ts'
import { certificateToTrust } from '../../../server/edge/tls.ts'
import { olderAuthority } from './certificates.ts'

const day = 24 * 60 * 60 * 1000

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-authority-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Makes the names of a machine with one network card. */
function machine(cidr: string, { hosts = [] as string[], hostname = 'studio' } = {}): SiteNames {
  const address = cidr.split('/')[0] ?? ''
  const card = { address, cidr, netmask: '', mac: '', internal: false } as const
  const eth0 = address.includes(':')
    ? ({ ...card, family: 'IPv6', scopeid: 0 } as const)
    : ({ ...card, family: 'IPv4' } as const)
  return siteNames(hosts, { hostname, interfaces: { eth0: [eth0] } })
}

/** Runs `openssl verify` on a certificate for a client that trusts one authority. */
async function verify(trusted: string, leaf: string, as: readonly string[]): Promise<string> {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'ca.pem'), trusted)
  await writeFile(join(folder, 'leaf.pem'), leaf)
  const run = promisify(execFile)('openssl', [
    ...['verify', '-x509_strict', '-purpose', 'sslserver', ...as],
    ...['-CAfile', join(folder, 'ca.pem'), join(folder, 'leaf.pem')],
  ])
  return await run.then(
    ({ stdout }) => stdout.replace(/^.*: /, '').trim(),
    (error: unknown) => (error as { stderr: string }).stderr,
  )
}

const authorityOf = (cert: string): string => new X509Certificate(certificateToTrust({ cert, key: '' }).der).toString()
const daysOf = (pem: string): number => {
  const { validFrom, validTo } = new X509Certificate(pem)
  return Math.round((Date.parse(validTo) - Date.parse(validFrom)) / day)
}

test('A thief of the authority key can sign for the site only, for two years: no other name passes verification', async () => {
  const folder = await temporaryFolder()
  const own = await ownCertificate(folder, machine('192.168.7.20/24', { hosts: ['rooms.example.org'] }))
  const trusted = authorityOf(own.cert)
  for (const host of ['localhost', 'studio', 'studio.local', 'rooms.example.org'])
    expect(await verify(trusted, own.cert, ['-verify_hostname', host])).toBe('OK')
  for (const address of ['127.0.0.1', '::1', '192.168.7.20'])
    expect(await verify(trusted, own.cert, ['-verify_ip', address])).toBe('OK')
  expect([daysOf(trusted), daysOf(own.cert)]).toEqual([730, 397])

  const stolen = { cert: trusted, key: await readFile(join(folder, 'authority.key'), 'utf8') }
  const forge = async (dns: string[], addresses: string[]): Promise<string> =>
    (await signCertificate(stolen, { dns, addresses }, Date.now())).cert
  for (const forged of [
    await forge(['bank.example'], []),
    await forge(['localhost', 'bank.example'], []),
    await forge([], ['203.0.113.9']),
    await forge([], ['192.168.8.20']),
    await forge([], ['2001:db8::1']),
  ])
    expect(await verify(trusted, forged, [])).toContain('permitted subtree violation')
})

test('The authority of an older version, without name constraints, is replaced with its key at the next start, and the operator is notified', async () => {
  const folder = await temporaryFolder()
  const old = await olderAuthority(folder)
  const now = Date.now()
  const own = await ownCertificate(folder, machine('192.168.7.20/24'), now)
  const { subject } = certificateToTrust(own)
  expect(own.change).toEqual({ at: now, subject, trusted_until: 0 })
  expect(subject).not.toContain('2025-01-01')
  expect(await verify(authorityOf(own.cert), own.cert, ['-verify_ip', '192.168.7.20'])).toBe('OK')
  for (const name of await readdir(folder)) expect(await readFile(join(folder, name), 'utf8')).not.toContain(old.trim())
  expect(await ownCertificate(folder, machine('192.168.7.20/24'), now + 89 * day)).toEqual(own)
  expect((await ownCertificate(folder, machine('192.168.7.20/24'), now + 91 * day)).change).toBeUndefined()
})

test('An authority is renewed 90 days before its end; devices that trust the old one, and those that trust the new one, keep working meanwhile', async () => {
  const folder = await temporaryFolder()
  const names = machine('192.168.7.20/24')
  const now = Date.now()
  const first = await ownCertificate(folder, names, now - 642 * day)
  const old = authorityOf(first.cert)
  const renewed = await ownCertificate(folder, names, now)
  const next = authorityOf(renewed.cert)
  expect(next).not.toBe(old)
  const { subject, validTo } = new X509Certificate(old)
  expect(renewed.change).toEqual({ at: now, subject, trusted_until: Date.parse(validTo) })
  for (const trusted of [old, next])
    expect(
      await verify(trusted, renewed.cert.split(/(?<=END CERTIFICATE-----\n)/)[0] ?? '', ['-verify_ip', '192.168.7.20']),
    ).toBe('OK')
  expect((await ownCertificate(folder, names, Date.parse(validTo) + day)).change).toBeUndefined()
})

test('A certificate is renewed before its end, and for another address of its network, under the same authority', async () => {
  const folder = await temporaryFolder()
  const now = Date.now()
  const first = await ownCertificate(folder, machine('192.168.7.20/24'), now - 335 * day)
  expect(await ownCertificate(folder, machine('192.168.7.20/24'), now - day)).toEqual(first)
  const second = await ownCertificate(folder, machine('192.168.7.20/24'), now + 4 * day)
  expect(second.cert).not.toBe(first.cert)
  const moved = await ownCertificate(folder, machine('192.168.7.99/24'), now + 4 * day)
  const trusted = authorityOf(first.cert)
  expect(moved.change).toBeUndefined()
  expect(
    await verify(trusted, moved.cert, [
      '-verify_ip',
      '192.168.7.99',
      '-attime',
      String(Math.ceil(now / 1000) + 5 * 86_400),
    ]),
  ).toBe('OK')
})

test('An address outside of the network is left out; if no other remains, or the operator names a host, the authority is renewed for it', async () => {
  const folder = await temporaryFolder()
  const home = machine('192.168.7.20/24')
  const first = await ownCertificate(folder, home)
  const vpn = machine('10.8.0.2/24')
  const withVpn: SiteNames = {
    ...home,
    current: { ...home.current, addresses: [...home.current.addresses, '10.8.0.2'] },
    permitted: { ...home.permitted, addresses: [...home.permitted.addresses, '10.8.0.0/24'] },
  }
  expect(await ownCertificate(folder, withVpn)).toEqual(first)
  const moved = await ownCertificate(folder, vpn)
  expect(moved.change).toMatchObject({ trusted_until: 0 })
  expect(await verify(authorityOf(moved.cert), moved.cert, ['-verify_ip', '10.8.0.2'])).toBe('OK')
  const named = await ownCertificate(folder, machine('10.8.0.2/24', { hosts: ['rooms.example.org'] }))
  expect(await verify(authorityOf(named.cert), named.cert, ['-verify_hostname', 'rooms.example.org'])).toBe('OK')
})

test('Two concurrent calls get the same certificate', async () => {
  const folder = await temporaryFolder()
  const [one, other] = await Promise.all([ownCertificate(folder), ownCertificate(folder)])
  expect(other).toEqual(one)
  const copy = await temporaryFolder()
  await cp(folder, copy, { recursive: true })
  await writeFile(join(copy, 'authority.key'), 'no key')
  expect(authorityOf((await ownCertificate(copy)).cert)).not.toBe(authorityOf(one.cert))
})

test('Networks are permitted for changing addresses, private IPv4 and IPv6; all other addresses are permitted one by one', () => {
  const permittedFor = (cidr: string): string | undefined => machine(cidr).permitted.addresses.at(2)
  expect(permittedFor('192.168.7.20/24')).toBe('192.168.7.0/24')
  expect(permittedFor('10.1.2.3/8')).toBe('10.1.0.0/16')
  expect(permittedFor('172.20.5.6/20')).toBe('172.20.0.0/20')
  expect(permittedFor('203.0.113.9/24')).toBe('203.0.113.9/32')
  expect(permittedFor('2001:db8:1:2:aaaa:bbbb:cccc:dddd/64')).toBe('2001:db8:1:2::/64')
  expect(permittedFor('fd00::2/48')).toBe('fd00::/64')
  expect(permittedFor('2001:db8::7/128')).toBe('2001:db8::7/128')
  expect(permittedFor('fe80::1/64')).toBeUndefined()
  expect(machine('192.168.7.20/24', { hostname: 'Café Büro' }).current.dns).toEqual(['localhost'])
})
