import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answersIn, open } from '../support/abusive-client.ts'
import { AbusedSite } from '../support/sites/abused-site.ts'

/** Above the limit of the largest port. */
const many = 10_050

let site: AbusedSite
beforeAll(async () => {
  site = await AbusedSite.start('off')
})
afterAll(() => site.stop())

for (const name of ['media', 'device', 'node', 'console'] as const) {
  test(`${many} silent connections on the ${name} port lock nobody out, and are closed by its deadline`, async () => {
    const target = site.target(name)
    const sockets: Socket[] = []
    for (let made = 0; made < many; made += 250) {
      await Promise.all(
        Array.from({ length: 250 }, () => {
          const socket = connect({ host: '127.0.0.1', port: target.port })
          sockets.push(socket)
          socket.on('error', () => {})
          return new Promise((resolve) => {
            socket.once('connect', resolve)
            socket.once('close', resolve)
          })
        }),
      )
    }
    expect(await answersIn(target)).toBeLessThan(1_000)
    expect(await answersIn(target, '127.0.0.2')).toBeLessThan(1_000)
    // Each times out and closes: 10 s, one second until the check, and half a second to close.
    await expect.poll(async () => (await site.connections())[name], { timeout: 20_000 }).toBeLessThanOrEqual(1)
    for (const socket of sockets) socket.destroy()
    expect(await site.same()).toBe(true)
    expect(site.failures).toEqual([])
    expect(await site.growth()).toBeLessThan(400 * 1024 * 1024)
  })
}

for (const name of ['media', 'device', 'node', 'console'] as const) {
  test(`300,000 requests in bursts on the ${name} port end their connections, and others are answered meanwhile`, async () => {
    const target = site.target(name)
    const burst = 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'.repeat(3_000)
    const sockets = await Promise.all(Array.from({ length: 100 }, () => open(target)))
    const ended = sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve)))
    for (const socket of sockets) {
      socket.resume()
      socket.write(burst)
    }
    const waits: number[] = []
    for (let turn = 0; turn < 20; turn++) waits.push(await answersIn(target, '127.0.0.2'))
    expect(Math.max(...waits)).toBeLessThan(1_000)
    await Promise.all(ended)
    expect(await site.same()).toBe(true)
    expect(site.failures).toEqual([])
  })
}
