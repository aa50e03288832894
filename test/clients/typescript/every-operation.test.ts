import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test, vi } from 'vitest'
import { digestForms, operations, ResultError, RoomdeskClient } from '../../../clients/typescript/src/index.ts'
import { startTestCamera } from '../../support/camera/test-camera.ts'
import { openWindows } from '../../support/chromium.ts'
import { installClientKit } from '../../support/clients/client-kit.ts'
import { everyOperation, type KitSite } from '../../support/clients/every-operation.ts'
import { shared, sharedFolder } from '../../support/fixtures.ts'
import { MediaSite } from '../../support/sites/media-site.ts'

vi.setConfig({ testTimeout: 180_000 })

const credential = { label: 'Kit', access_key: 'kit', secret_key: 'a secret of 晨会' }
const recordings = sharedFolder()
const site = shared(() => MediaSite.start({ credential, recordings: recordings() }))
/** A link needs a segment that has ended, as segments do when the size of the picture changes. */
const camera = shared(() => startTestCamera({ behaviours: ['size-change=2'] }))
/** Folder in which the kit is installed as a package. */
const folder = shared(
  async () => {
    const created = await mkdtemp(join(tmpdir(), 'roomdesk-kit-'))
    await installClientKit(created)
    return created
  },
  (created) => rm(created, { recursive: true }),
)

function kitSite(run: string): KitSite {
  const { media, device } = site().api
  return {
    media,
    device,
    accessKey: credential.access_key,
    secretKey: credential.secret_key,
    camera: camera().url,
    run,
  }
}

/** Checks the answers to all operations. */
function expectAnswers(answers: unknown, run: string): void {
  const user = `${run}-door`
  expect(answers).toMatchObject({
    createRoom: { room_id: `${run}-room` },
    getRoom: { topic: 'Morning + 晨会 & more', owner_id: 'kit', room_mode: 1 },
    getRoomByExtendId: { topic: 'Morning + 晨会 & more' },
    getMcu: { addr: new URL(site().nodeUrl).host },
    createOutgoingUser: { data: { userId: user } },
    listOutgoingUsers: { data: { total: 1, items: [{ userId: user, userName: 'Door', userData: '+' }] } },
    listUsers: { user_list: [{ user_id: user, user_name: 'Door' }] },
    getUserNumber: { user_count_list: [{ user_count: 1 }] },
    recordingStart: { user_id: user, name: 'Door' },
    recordingList: { total: 1 },
    liveGet: { name: 'Door live' },
    refused: { ret: 404, message: 'There is no such room.', isRoomNotFound: true },
  })
  expect(Object.keys(answers as object).sort()).toEqual([...Object.keys(operations), 'refused'].sort())
}

test.each([
  ['an ES module', 'program.mjs', "import * as kit from 'roomdesk-client'"],
  ['CommonJS', 'program.cjs', "const kit = require('roomdesk-client')"],
])('Node calls every operation by the kit as %s', async (_, name, importKit) => {
  const file = join(folder(), name)
  const finish = 'then((answers) => console.log(JSON.stringify(answers)))'
  await writeFile(
    file,
    `${importKit}\n${everyOperation.toString()}\neveryOperation(kit, JSON.parse(process.env.SITE)).${finish}\n`,
  )
  const env = { ...process.env, SITE: JSON.stringify(kitSite(name)) }
  const { stdout } = await promisify(execFile)(process.execPath, [file], { env })
  expectAnswers(JSON.parse(stdout), name)
})

test('Chromium calls every operation by the kit, from a page of another origin', async () => {
  const files = createServer((request, response) => {
    const path = /^\/([\w-]+\.js)$/.exec(request.url ?? '')?.[1]
    if (path === undefined) return void response.setHeader('Content-Type', 'text/html').end('<title>Kit</title>')
    void readFile(join(folder(), 'node_modules/roomdesk-client/dist/esm', path)).then((text) =>
      response.setHeader('Content-Type', 'text/javascript').end(text),
    )
  })
  await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve))
  await using browser = await openWindows()
  onTestFinished(() => void files.close())
  const page = await browser.newPage()
  await page.goto(`http://127.0.0.1:${(files.address() as AddressInfo).port}/`)
  const answers = await page.evaluate(
    `import('/index.js').then((kit) => (${everyOperation.toString()})(kit, ${JSON.stringify(kitSite('chromium'))}))`,
  )
  expectAnswers(answers, 'chromium')
})

test.each(digestForms)(
  'The server accepts digests and tokens of the kit as %s, also with a + in them',
  async (form) => {
    const { media, device } = site().api
    const signed: string[] = []
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const client = new RoomdeskClient({
        media,
        device,
        accessKey: credential.access_key,
        secretKey: credential.secret_key,
        digestForm: form,
        fetch: (url, options) => {
          signed.push(new URL(url instanceof Request ? url.url : url).searchParams.get('access_token') ?? '')
          return fetch(url, options)
        },
      })
      const refusal = await client.getRoom({ room_id: 'unknown' }).catch((error: unknown) => error)
      expect(refusal instanceof ResultError && refusal.is('roomNotFound'), String(refusal)).toBe(true)
    }
    // Base64 of hexadecimal digits has no `+`.
    expect(signed.some((token) => token.includes('+'))).toBe(form.endsWith('raw'))
  },
)

test('The types of the kit are complete in ES modules and in CommonJS', async () => {
  const program = `import { type GetRoomAnswer, RoomdeskClient } from 'roomdesk-client'
const client = new RoomdeskClient({ media: '', device: '', accessKey: '', sign: async (text) => text })
export const topic: Promise<string> = client.getRoom({ room_id: '1' }).then((room: GetRoomAnswer) => room.topic)
// @ts-expect-error -- a room has no such field
export const none = client.getRoom({ room_id: '1' }).then((room) => room.tpoic)
// @ts-expect-error -- a parameter is missing
export const room = client.createRoom({ topic: 'Morning' })
`
  const names = ['types.mts', 'types.cts']
  for (const name of names) await writeFile(join(folder(), name), program)
  const compiler = join(import.meta.dirname, '../../../node_modules/typescript/bin/tsc')
  const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom']
  const { stdout } = await promisify(execFile)(process.execPath, [compiler, ...flags, ...names], {
    cwd: folder(),
  }).catch((error: unknown) => error as { stdout: string })
  expect(stdout).toBe('')
})
