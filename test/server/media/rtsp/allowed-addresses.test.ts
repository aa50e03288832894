import type dns from 'node:dns'
import { once } from 'node:events'
import net from 'node:net'
import os from 'node:os'
import { expect, test } from 'vitest'
import { AllowedAddresses } from '../../../../server/media/rtsp/allowed-addresses.ts'
import { RtspConnection } from '../../../../server/media/rtsp/connection.ts'
import { parseDeviceAddress } from '../../../../shared/device-address.ts'
import { startScriptedCamera, usualAnswer } from '../../../support/camera/scripted-camera.ts'

const everywhere = { networks: [], sitePorts: [], siteAddresses: [] }
const never = new AbortController().signal

test.each([
  ['10.1.2.3', true],
  ['::ffff:10.1.2.3', true],
  ['::ffff:a01:203', true],
  ['192.168.7.9', true],
  ['192.168.7.10', false],
  ['11.0.0.1', false],
  ['127.0.0.1', false],
  ['0.0.0.0', false],
  ['169.254.169.254', false],
  ['2001:db8::5', true],
  ['2001:db9::5', false],
  ['fe80::1%eth0', true],
  ['::1', false],
])('with networks given, a camera at %s is called: %s', (address, permitted) => {
  const networks = ['10.0.0.0/8', '192.168.7.9', '2001:db8::/32', 'fe80::/10']
  expect(new AllowedAddresses({ ...everywhere, networks }).permits(address, 554)).toBe(permitted)
})

test('the site’s own ports are refused at every address of this machine; other ports, and the same ports of other machines, are allowed', () => {
  const allowed = new AllowedAddresses({ ...everywhere, sitePorts: [7080], siteAddresses: ['203.0.113.7'] })
  const interfaces = Object.values(os.networkInterfaces()).flatMap((entries) => entries ?? [])
  const here = [
    ...interfaces.map(({ address }) => address),
    ...['127.0.0.1', '127.8.8.8', '0.0.0.0', '::1', '::', '::ffff:127.0.0.1', '::ffff:7f00:1', '203.0.113.7'],
  ]
  for (const address of here) {
    expect([address, allowed.permits(address, 7080)]).toEqual([address, false])
    expect([address, allowed.permits(address, 8554)]).toEqual([address, true])
  }
  for (const address of ['203.0.113.8', '2001:db8::7']) expect(allowed.permits(address, 7080)).toBe(true)
})

/** A resolver with different answers to each query. */
function resolver(...answers: string[][]): { resolve: typeof dns.lookup; asked: () => number } {
  let asked = 0
  const resolve = (
    _name: string,
    _options: object,
    callback: (error: null, found: { address: string; family: number }[]) => void,
  ): void => {
    const found = answers[Math.min(asked, answers.length - 1)] ?? []
    asked += 1
    process.nextTick(() =>
      callback(
        null,
        found.map((address) => ({ address, family: net.isIP(address) })),
      ),
    )
  }
  return { resolve: resolve as typeof dns.lookup, asked: () => asked }
}

/** Connects like a pull, and resolves to the address of the connection. */
async function connect(host: string, port: number, allowed: AllowedAddresses): Promise<string> {
  const address = { ...parseDeviceAddress(`rtsp://${host}:${port}/`) }
  const connection = new RtspConnection(
    { address, login: undefined, trustAnyCertificate: false, answerMs: 2_000, allowed },
    { packet: () => {}, knows: () => false, ended: () => {} },
  )
  try {
    await connection.connect(never)
    return connection.remoteAddress
  } finally {
    connection.close()
  }
}

test('a name is called at its permitted addresses, and the checked address is the called one', async () => {
  await using camera = await startScriptedCamera(usualAnswer, '0.0.0.0')
  const rebinding = resolver(['127.0.0.9', '127.0.0.2'], ['127.0.0.9'])
  const allowed = new AllowedAddresses({ ...everywhere, networks: ['127.0.0.2/31'], resolve: rebinding.resolve })
  expect(await connect('camera.example', camera.port, allowed)).toBe('127.0.0.2')
  expect(rebinding.asked()).toBe(1)
  await expect(connect('camera.example', camera.port, allowed)).rejects.toMatchObject({ kind: 'forbidden' })
})

test('a caller cannot learn what exists at a forbidden address: open, closed and silent ones get the same answer, and none is called', async () => {
  const called: string[] = []
  const silent = net.createServer((socket) => void called.push(socket.remoteAddress ?? '')).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as net.AddressInfo
  const closed = net.createServer().listen(0, '127.0.0.1')
  await once(closed, 'listening')
  const closedPort = (closed.address() as net.AddressInfo).port
  closed.close()
  await once(closed, 'close')
  const allowed = new AllowedAddresses({ ...everywhere, networks: ['10.0.0.0/8'] })
  const messages = new Set<string>()
  for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '[::1]', '0.0.0.0', '192.0.2.1']) {
    for (const at of [port, closedPort, 1]) {
      const error = await connect(host, at, allowed).catch((reason: unknown) => reason)
      messages.add(String(error))
      expect(error).toMatchObject({ kind: 'forbidden' })
    }
  }
  expect(messages.size).toBe(1)
  expect(called).toEqual([])
  silent.close()
})
