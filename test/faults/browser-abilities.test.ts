import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RoomSite } from '../support/sites/room-site.ts'

/** A browser like Firefox without OpenH264: it offers no H.264 to watch. The page's connections are kept, to read what arrives. */
const withoutH264 = `{
  const { prototype } = RTCPeerConnection
  const add = prototype.addTransceiver
  globalThis.connections = []
  prototype.addTransceiver = function (kind, options) {
    const made = add.call(this, kind, options)
    connections.push(this)
    if (kind !== 'video' || options?.direction !== 'recvonly') return made
    const { codecs } = RTCRtpReceiver.getCapabilities('video')
    made.setCodecPreferences(codecs.filter(({ mimeType }) => mimeType !== 'video/H264'))
    return made
  }
}`

/** A browser like some builds of WebKitGTK. */
const withoutWebRtc = 'delete globalThis.RTCPeerConnection'

/** Bytes of sound that all connections of the page have received. */
const heard = `(async () => {
  let bytes = 0
  for (const connection of connections)
    for (const [, entry] of await connection.getStats())
      if (entry.type === 'inbound-rtp' && entry.kind === 'audio') bytes += entry.bytesReceived
  return bytes
})()`

let site: RoomSite
let room: string
let wall: string
beforeAll(async () => {
  const settings = { media: { transcoders: 0 } }
  site = await RoomSite.start({ nodes: [{ name: 'here', kind: 'embedded' }], settings })
  room = await site.room({ topic: 'Yard' })
  await site.camera(room, 'gate', 'North gate')
  wall = (await site.controller.rpc('wall.save', { name: 'Doors', items: [{ kind: 'camera', id: 'gate' }] })).id
})
afterAll(() => site[Symbol.asyncDispose]())

/** Opens a page in a browser that lacks something. */
async function openWith(script: string, url: string): Promise<Page> {
  const page = await site.window('none')
  await page.addInitScript(script)
  await page.goto(url)
  return page
}

async function consoleUrl(path: string): Promise<string> {
  const key = (await readFile(join(site.controller.folder, 'console.key'), 'utf8')).trim()
  return `${site.controller.ready.console}/#key=${key}${path}`
}

async function openConsole(script: string): Promise<Page> {
  const page = await openWith(script, await consoleUrl(''))
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  return page
}

const show = async (page: Page, path: string): Promise<void> => {
  await page.evaluate(`location.hash = ${JSON.stringify(`#${path}`)}`)
}

test('without H.264 and without transcoding, the sound of a camera plays, and room page, panel and wall say why there is no picture', {
  timeout: 120_000,
}, async () => {
  const page = await openWith(withoutH264, await site.link(room))
  await page.getByLabel('Your name').fill('Ann')
  await page.getByRole('button', { name: /^Join/ }).click()
  await page.getByRole('listitem', { name: 'North gate' }).getByText('This browser cannot decode the picture').waitFor()
  await expect.poll(() => page.evaluate(heard), { timeout: 20_000 }).toBeGreaterThan(5_000)

  const console = await openConsole(withoutH264)
  await show(console, '/devices/gate')
  await console.getByText('This browser cannot decode the picture. You can listen to the sound.').waitFor()
  await console.getByRole('button', { name: 'Sound on' }).click()
  await expect.poll(() => console.evaluate(heard), { timeout: 20_000 }).toBeGreaterThan(5_000)
  await show(console, `/wall/${wall}`)
  await console.getByText('This browser cannot decode the picture.', { exact: true }).waitFor()
})

test('without WebRTC, room page, panel and wall say so in one sentence, and do not retry', {
  timeout: 120_000,
}, async () => {
  const page = await openWith(withoutWebRtc, await site.link(room))
  await page.getByRole('heading', { name: 'This browser has no WebRTC' }).waitFor()
  expect(await page.getByText('could not be opened').count()).toBe(0)

  const console = await openConsole(withoutWebRtc)
  for (const path of ['/devices/gate', `/wall/${wall}`]) {
    await show(console, path)
    await console.getByText('This browser has no WebRTC: it cannot show live pictures.').waitFor()
    expect(await console.getByText('retrying').count()).toBe(0)
  }
})
