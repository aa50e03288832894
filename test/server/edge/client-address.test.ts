import { createServer } from 'node:http'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { addressShare } from '../../../shared/client-address.ts'
import { clientAddress, ClientRateLimit } from '../../../server/edge/client-address.ts'
import { plainAddress } from '../../../shared/client-address.ts'

test.each([
  ['10.0.0.5', '10.0.0.5'],
  ['::ffff:10.0.0.5', '10.0.0.5'],
  ['2001:db8::5', '2001:db8::5'],
  ['fe80::1%eth0', 'fe80::1'],
  [undefined, ''],
])('The peer %j is shown as %j', (remote, address) => {
  expect(plainAddress(remote)).toBe(address)
})

test.each([
  ['10.0.0.5', '10.0.0.5'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
  ['2001:db8:1::6', '2001:db8:1::/64'],
  ['2001:db8::1:2:3:4', '2001:db8::/64'],
  ['2001:db8::1:2:3:4:5', '2001:db8:0:1::/64'],
  ['fe80::1', 'fe80::/64'],
  ['::1', '::/64'],
  ['64:ff9b::192.0.2.33', '64:ff9b::/64'],
  ['', ''],
])('The address %j counts as %j', (address, share) => {
  expect(addressShare(address)).toBe(share)
})

test('A client of a dual-stack port has its IPv4 address, whatever the headers of a proxy say', async () => {
  const server = createServer((request, response) => response.end(clientAddress(request)))
  server.listen(0)
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  try {
    const headers = { 'x-forwarded-for': '1.2.3.4' }
    expect(await (await fetch(`http://127.0.0.1:${port}/`, { headers })).text()).toBe('127.0.0.1')
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

test('The addresses of one IPv6 network share their limit; IPv4 addresses do not', () => {
  const limit = new ClientRateLimit({ max: 2, windowMs: 60_000, now: () => 0 })
  limit.take('2001:db8::1')
  limit.take('2001:db8::2')
  limit.take('10.0.0.1')
  limit.take('10.0.0.2')
  expect(limit.reached('2001:db8::3')).toBe(true)
  expect(limit.retryAfterSeconds('2001:db8::3')).toBe(60)
  expect(limit.reached('2001:db8:0:1::1')).toBe(false)
  expect(limit.reached('10.0.0.1')).toBe(false)
})
