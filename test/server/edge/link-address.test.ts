import { describe, expect, test } from 'vitest'
import { lanAddresses, nodeAddressOf, outsideUrl } from '../../../server/edge/network-addresses.ts'

const addresses = lanAddresses()
const last = addresses.at(-1) ?? ''
const local = 'http://127.0.0.1:7080'

describe.skipIf(last === '')('an address of this machine in links', () => {
  test('is the preferred one while the port is open on every network', () => {
    expect(outsideUrl(local, '0.0.0.0', last)).toBe(`http://${last}:7080`)
    expect(nodeAddressOf(local, '0.0.0.0', last)).toBe(`${last}:7080`)
  })

  test('is another one once the machine has left that network', () => {
    expect(outsideUrl(local, '0.0.0.0', '203.0.113.9')).toBe(outsideUrl(local, '0.0.0.0'))
    expect(new URL(outsideUrl(local, '0.0.0.0')).hostname).not.toBe('127.0.0.1')
  })

  test('is the bound one where the port is bound to a single address', () => {
    expect(outsideUrl(local, '127.0.0.1', last)).toBe(local)
  })
})
