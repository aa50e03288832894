import type { Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  abuse,
  answersIn,
  endings,
  open as openTo,
  openings,
  phases,
  type Target,
} from '../../support/abusive-client.ts'
import { AbusedSite } from '../../support/sites/abused-site.ts'

const megabyte = 1024 * 1024
/** V8's space for young objects, three times the node's semi-space: it fills once, with any load. */
const youngObjects = 48 * megabyte

/** Processes each item, with at most `width` at a time. */
async function each<T>(list: readonly T[], width: number, work: (item: T) => Promise<unknown>): Promise<void> {
  const left = list.values()
  const worker = async (): Promise<void> => {
    for (const item of left) await work(item)
  }
  await Promise.all(Array.from({ length: width }, worker))
}

/** Five ports that strangers abuse, with or without TLS. */
export function abusedPorts(tls: 'off' | 'self-signed'): void {
  describe(`Five ports under attack, TLS ${tls}`, { timeout: 60_000 }, () => {
    let site: AbusedSite
    const held: Socket[] = []
    beforeAll(async () => {
      site = await AbusedSite.start(tls)
    })
    afterAll(() => site.stop())
    afterEach(async () => {
      for (const socket of held.splice(0)) socket.destroy()
      expect(await site.same()).toBe(true)
      expect(site.failures.slice(0, 3)).toEqual([])
      expect(await site.growth()).toBeLessThan(150 * megabyte + youngObjects)
      // Every connection of the strangers ends.
      await expect
        .poll(async () => Math.max(...Object.values(await site.connections())), { timeout: 15_000 })
        .toBeLessThanOrEqual(2)
    })

    const hold = async (target: Target, count: number, bytes = '', from?: string): Promise<void> => {
      await each(Array.from({ length: count }), 50, async () => {
        const socket = await openTo(target, { ...(from === undefined ? {} : { from }), plainly: bytes === '' })
        socket.on('error', () => {})
        held.push(socket)
        if (bytes !== '') socket.write(bytes)
      })
    }

    test('any beginning of a request, at any point and with any ending, leaves the port answering others', async () => {
      const cases = site.targets.flatMap((target) =>
        openings.flatMap((bytes, opening) =>
          phases.flatMap((phase, index) =>
            endings
              // With TLS every handshake is expensive: each opening gets some of the endings.
              .filter((_, ending) => tls === 'off' || (opening + index + ending) % endings.length === 0)
              .map((ending) => ({ target, bytes, length: phase(Buffer.byteLength(bytes)), ending })),
          ),
        ),
      )
      let over = false
      const waits: number[] = []
      const others = (async () => {
        while (!over) for (const target of site.targets) waits.push(await answersIn(target, '127.0.0.9'))
      })()
      await each(cases, 100, ({ target, bytes, length, ending }) => abuse(target, bytes, length, ending))
      over = true
      await others
      expect(cases.length).toBeGreaterThan(tls === 'off' ? 1_500 : 300)
      expect(waits.length).toBeGreaterThan(4)
      for (const target of site.targets) expect(await answersIn(target)).toBeLessThan(2_000)
    })

    test('silent connections beyond the limit of a port lock nobody out, at the same address or another', async () => {
      await hold(site.target('console'), 1_100)
      for (const name of ['media', 'device', 'node', 'event'] as const) await hold(site.target(name), 300)
      // Half of the ports' limits: the share of one address.
      const held = { media: 300, device: 300, node: 300, console: 500, event: 200 }
      await expect.poll(() => site.connections()).toEqual(held)
      for (const target of site.targets) {
        expect(await answersIn(target)).toBeLessThan(2_000)
        expect(await answersIn(target, '127.0.0.2')).toBeLessThan(2_000)
      }
    })

    test('slow headers and bodies delay no other client', async () => {
      const head = 'POST /session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n'
      for (const target of site.targets) {
        await hold(target, 30, head)
        await hold(target, 30, `${head}\r\n{"key":`)
      }
      const drip = setInterval(() => {
        for (const socket of held) if (socket.writable) socket.write('x')
      }, 50)
      for (const target of site.targets) {
        expect(await answersIn(target)).toBeLessThan(2_000)
        expect(await answersIn(target, '127.0.0.2')).toBeLessThan(2_000)
      }
      clearInterval(drip)
    })

    test('bodies without a key are refused before they arrive, and not buffered', async () => {
      const target = site.target('console')
      const body = Buffer.alloc(8 * megabyte, 'x')
      const statuses: string[] = []
      const before = await site.memory()
      await each(
        ['/rpc/rooms.list', '/session', '/nowhere', '/rpc/settings.set'].flatMap((path) =>
          Array.from({ length: 8 }, () => path),
        ),
        8,
        async (path: string) => {
          const socket = await openTo(target)
          held.push(socket)
          socket.on('error', () => {})
          const answer = new Promise<string>((resolve) =>
            socket.once('data', (chunk: Buffer) => resolve(chunk.toString('latin1', 9, 12))),
          )
          socket.write(`POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${body.length}\r\n\r\n`)
          // Answered before any byte of the body: the key is checked first.
          statuses.push(await answer)
          socket.write(body)
        },
      )
      expect(new Set(statuses)).toEqual(new Set(['401', '400', '404']))
      // 256 MiB were sent.
      expect((await site.memory()) - before).toBeLessThan(100 * megabyte + youngObjects)
    })

    test('a file requested by many spellings is one file', async () => {
      const before = await site.memory()
      const spellings = Array.from(
        { length: tls === 'off' ? 600 : 150 },
        (_, turn) => `/${`v${turn}/../`.repeat(1 + (turn % 3))}index.html`,
      )
      await each(spellings, 8, async (path) => {
        const socket = await openTo(site.target('console'))
        socket.on('error', () => {})
        await new Promise((resolve) => {
          socket.once('close', resolve)
          socket.resume()
          socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`)
        })
      })
      expect((await site.memory()) - before).toBeLessThan(60 * megabyte + youngObjects)
    })

    test.runIf(tls === 'self-signed')('a TLS port survives plain bytes, half a handshake and silence', async () => {
      for (const target of site.targets) {
        await each(openings, 20, async (bytes) => {
          const socket = await openTo(target, { plainly: true })
          held.push(socket)
          socket.on('error', () => {})
          socket.resume()
          socket.write(bytes)
        })
        expect(await answersIn(target)).toBeLessThan(2_000)
      }
    })
  })
}
