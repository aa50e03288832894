import { randomBytes } from 'node:crypto'
import dgram from 'node:dgram'
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { Lifetime } from '../../../../server/media/base/lifetime.ts'
import { IceRestart } from '../../../../server/media/webrtc/ice-restart.ts'
import { RestartPort } from '../../../../server/media/webrtc/restart-port.ts'
import {
  hasIntegrity,
  type IceCredentials,
  isStun,
  nominatingRequest,
  readStun,
  successResponse,
} from '../../../../server/media/webrtc/stun.ts'

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const host = '127.0.0.1'
const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

interface UdpSocket {
  socket: dgram.Socket
  port: number
  packets: Buffer[]
}

async function udp(): Promise<UdpSocket> {
  const socket = dgram.createSocket('udp4').bind(0, host)
  await once(socket, 'listening')
  closers.push(() => socket.close())
  const packets: Buffer[] = []
  socket.on('message', (packet) => packets.push(packet))
  return { socket, port: socket.address().port, packets }
}

const credentials = (): IceCredentials => ({
  userFragment: randomBytes(4).toString('hex'),
  password: randomBytes(12).toString('hex'),
})

/** Makes a connection whose client restarts ICE. The library is a socket that answers checks and sends media to any address it is given. */
async function restartedConnection() {
  const [library, port, lifetime] = [await udp(), new RestartPort(0, host, log), new Lifetime(() => {})]
  closers.push(
    () => port.close(),
    () => lifetime.end(),
  )
  const first = { node: credentials(), client: credentials(), host, port: library.port }
  const restart = new IceRestart(first, port, lifetime, () => {})
  const client = credentials()
  const node = restart.begin(client)
  const number = await port.open()
  library.socket.on('message', (packet, from) => {
    const message = readStun(packet)
    if (message?.class === 'request')
      library.socket.send(successResponse(message, from, first.node.password), from.port, host)
    // Packets that the library sends along this path from now on.
    library.socket.send(Buffer.concat([Buffer.from([0x80, 96]), Buffer.alloc(10)]), from.port, host)
  })
  const check = (from: UdpSocket): void => {
    const username = `${node.userFragment}:${client.userFragment}`
    from.socket.send(nominatingRequest(username, node.password, 1, randomBytes(8)), number, host)
  }
  return { client, node, number, check, library }
}

const media = ({ packets }: UdpSocket): Buffer[] => packets.filter((packet) => !isStun(packet))
const requests = ({ packets }: UdpSocket): Buffer[] => packets.filter((packet) => readStun(packet)?.class === 'request')

test('an address that does not answer gets checks, and no media', async () => {
  const { check, client, library } = await restartedConnection()
  const silent = await udp()
  check(silent)
  await expect.poll(() => requests(silent).length).toBe(1)
  const [request = Buffer.alloc(0)] = requests(silent)
  const message = readStun(request)
  expect(message === undefined || !hasIntegrity(request, message, client.password)).toBe(false)
  // Repeated checks are sent at most every 40 ms.
  for (let times = 0; times < 20; times++) check(silent)
  await expect.poll(() => silent.packets.length).toBeGreaterThanOrEqual(20)
  expect(requests(silent).length).toBeLessThan(5)
  expect(media(silent)).toEqual([])
  expect(library.packets).toEqual([])
})

test('media goes to an address as soon as it has answered, and stays there while another one is checked', async () => {
  const { check, client, number } = await restartedConnection()
  const honest = await udp()
  honest.socket.on('message', (packet) => {
    const message = readStun(packet)
    if (message?.class === 'request')
      honest.socket.send(successResponse(message, { address: host, port: number }, client.password), number, host)
  })
  check(honest)
  await expect.poll(() => media(honest).length).toBeGreaterThan(0)

  const silent = await udp()
  check(silent)
  await expect.poll(() => requests(silent).length).toBe(1)
  check(honest)
  await expect.poll(() => honest.packets.length).toBeGreaterThan(3)
  expect(media(silent)).toEqual([])
})

test('an answer without the right password does not count', async () => {
  const { check, number } = await restartedConnection()
  const liar = await udp()
  liar.socket.on('message', (packet) => {
    const message = readStun(packet)
    if (message?.class === 'request')
      liar.socket.send(successResponse(message, { address: host, port: number }, 'guessed'), number, host)
  })
  check(liar)
  await expect.poll(() => requests(liar).length).toBe(1)
  check(liar)
  await expect.poll(() => liar.packets.length).toBeGreaterThanOrEqual(3)
  expect(media(liar)).toEqual([])
})
