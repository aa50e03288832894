import { once } from 'node:events'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { Controller } from '../../../server/controller/controller.ts'
import { forkMediaProcess } from '../../../server/nodes/embedded/fork-process.ts'
import { siteFileSchema } from '../../../shared/site-file.ts'
import { removeFolder } from '../../support/headless.ts'
import { freePorts } from '../../support/free-port.ts'
import { mediaProgram } from '../../support/media/media-program.ts'
import { begunCookie, bothHalves } from '../../support/page-session.ts'

const origin = { transport: 'internal', client: '', role: 'admin' } as const

describe('Moved listeners', () => {
  let controller: Controller
  let folder: string
  let ports: { media_port: number; device_port: number; node_port: number; console_port: number }
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'roomdesk-move-'))
    const [media_port = 0, device_port = 0, node_port = 0, console_port = 0] = await freePorts(4)
    ports = { media_port, device_port, node_port, console_port }
    controller = await Controller.open({
      dataFolder: folder,
      logger: pino({ level: 'silent' }),
      version: 'test',
      site: siteFileSchema.parse({ nodes: [{ name: 'lab', kind: 'simulated' }], settings: { listeners: ports } }),
      consolePage: folder,
      media: {
        spawn: forkMediaProcess(mediaProgram),
        pageFolder: folder,
      },
    })
    await controller.start()
  })
  afterEach(async () => {
    await controller.stop(0)
    await removeFolder(folder)
  })

  /** Calls a procedure like the page, and resolves to its result. */
  async function page(url: string): Promise<(procedure: string, input: unknown) => Promise<unknown>> {
    const key = (await readFile(join(folder, 'console.key'), 'utf8')).trim()
    const answer = await fetch(`${url}/session`, { method: 'POST', body: JSON.stringify({ key }) })
    const cookie = begunCookie(answer.headers)
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers: { ...bothHalves(cookie), origin: url } })
    await once(socket, 'open')
    return (procedure, input) =>
      new Promise((resolve, reject) => {
        socket.once('close', () => reject(new Error('the connection ended before the answer')))
        socket.on('message', (data: Buffer) => {
          const message = JSON.parse(data.toString()) as { id?: number; result?: unknown }
          if (message.id === 1) resolve(message.result)
        })
        socket.send(JSON.stringify({ id: 1, procedure, input }))
      })
  }

  test('the console moves while a page is open: the page receives its answer and the new address', async () => {
    const [to = 0] = await freePorts(1)
    const call = await page(controller.listeners.url('console'))
    expect(await call('settings.set', { listeners: { console_port: to } })).toMatchObject({ ok: true })
    expect(controller.listeners.url('console')).toBe(`http://127.0.0.1:${to}`)
    const again = await page(controller.listeners.url('console'))
    expect(await again('settings.get', {})).toMatchObject({ ok: true, value: { listeners: { console_port: to } } })
  })

  test('a replaced key reaches the page that replaced it', async () => {
    const call = await page(controller.listeners.url('console'))
    const key = (await readFile(join(folder, 'console.key'), 'utf8')).trim()
    const result = await call('console.replace_key', {})
    expect(result).toMatchObject({ ok: true })
    expect(JSON.stringify(result)).not.toContain(key)
  })

  test('two listeners can swap ports', async () => {
    const swapped = { media_port: ports.device_port, device_port: ports.media_port }
    expect(await controller.dispatch('settings.check', { listeners: swapped }, origin)).toMatchObject({
      value: { ok: true, restarts: ['media', 'device'] },
    })
    expect(await controller.dispatch('settings.set', { listeners: swapped }, origin)).toMatchObject({ ok: true })
    expect(controller.listeners.url('media')).toBe(`http://127.0.0.1:${ports.device_port}`)
  })

  test('two listeners cannot share a port, and both fields say so', async () => {
    const both = { listeners: { media_port: ports.device_port } }
    expect(await controller.dispatch('settings.check', both, origin)).toMatchObject({
      value: {
        ok: false,
        problems: [{ path: 'listeners.media_port' }, { path: 'listeners.device_port' }],
      },
    })
  })

  test('an address of another machine is refused at its field', async () => {
    const foreign = { listeners: { host: '203.0.113.9' } }
    expect(await controller.dispatch('settings.check', foreign, origin)).toMatchObject({
      value: { ok: false, problems: [{ path: 'listeners.host' }] },
    })
  })
})
