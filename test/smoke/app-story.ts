import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiClient } from '../support/api-client.ts'
import { startTestCamera } from '../support/camera/test-camera.ts'
import { policyHolds, nodeIsAbsent } from './page-checks.ts'
import { tellOfOtherFaces } from './faces-story.ts'
import { descendantsOf } from './processes.ts'
import { NotHere, type Report } from './report.ts'
import { launchAgain, type Program, RunningApp } from './running-app.ts'
import { fetchPage, fetchPinned } from './room-page-fetch.ts'
import { until } from './until.ts'

/** Time for which the page hangs, in milliseconds. */
const hangMs = 8_000
/** Time within which a client is answered meanwhile, in milliseconds. */
const maxAnswerMs = 2_000
/** Process of the embedded node, as started by Electron and by the stand-in. */
const mediaProgram = /node\.mojom\.NodeService|media-node\.js/

/**
 * One day of the app, driven only by its page and its ports: the fuses of a packed app block debugging of its main process.
 * @param part name of its items, e.g. `app`
 */
export async function tellAppStory(report: Report, part: string, program: Program): Promise<void> {
  if (!report.wants(part)) return
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-smoke-'))
  const name = (item: string): string => `${part}.${item}`
  try {
    const first = await report.prepare(name('start'), () => RunningApp.start(program, folder))
    if (first === undefined) return
    let made: Made | undefined
    {
      await using app = first
      await tellOfPage(report, name, app)
      await report.check(name('node-online'), () => nodeOnline(app))
      await report.check(name('readiness'), () => checksAnswer(app))
      made = await report.prepare(name('call'), () => callAsClient(app))
      if (made !== undefined) {
        const { roomId } = made
        await report.check(name('room-page-http'), async () => fetchPage(await app.url('media'), roomId))
        await report.check(name('room-page-tls'), () => roomPageOverTls(app, roomId))
        await report.check(name('preview'), () => preview(app, roomId, 'h264'))
        await report.check(name('preview-h265'), () => convertedPreview(app, roomId))
        await report.check(name('page-hang'), () => hangPage(app, roomId))
      } else for (const item of roomItems) report.skip(name(item), noRoom)
      await report.check(name('page-crash'), () => crashPage(app))
      await report.check(name('node-killed'), () => killNode(app))
      await report.check(name('gpu-crash'), () => killGraphics(app))
      await report.check(name('second-instance'), () => startTwice(app, program, folder))
      await report.check(name('sigterm'), () => endBySignal(app))
    }
    const { key } = made ?? {}
    if (key === undefined) report.skip(name('data-kept'), noRoom)
    else await report.check(name('data-kept'), () => startOnKeptData(program, folder, key))
    await tellOfOtherFaces(report, name, { program, folder })
  } finally {
    if (report.hasFailed(part)) report.note(`Data and log of this run are kept in ${folder}`)
    else await rm(folder, { recursive: true, force: true, maxRetries: 10 }).catch(() => undefined)
  }
}

const roomItems = ['room-page-http', 'room-page-tls', 'preview', 'preview-h265', 'page-hang']
const noRoom = 'it needs the room of the item "call"'

/** Results of the first run that the second one needs. */
interface Made {
  roomId: string
  key: { access_key: string; secret_key: string }
}

async function tellOfPage(report: Report, name: (item: string) => string, app: RunningApp): Promise<void> {
  await report.check(name('origin'), async () => {
    const origin = String(await app.page.evaluate('location.origin'))
    if (origin !== 'app://roomdesk' && origin !== 'http://roomdesk.app.localhost') throw new Error(`it is ${origin}`)
    return origin
  })
  await report.check(name('policy'), () => policyHolds(app.page))
  await report.check(name('no-node'), () => nodeIsAbsent(app.page))
  await report.check(name('visible'), () =>
    until('the window is shown', async () => {
      const state = String(await app.page.evaluate('document.visibilityState'))
      return state === 'visible' && `${String(await app.page.evaluate('innerWidth'))} pixels wide`
    }),
  )
}

const nodeOnline = (app: RunningApp): Promise<string> =>
  until('the embedded node is online', async () => {
    const nodes = await app.call('nodes.list')
    const online = nodes.find(({ config, state }) => config.kind === 'embedded' && state === 'online')
    return online?.config.name
  })

/** Runs every check of the readiness page, those of the app's own calls to Electron and the system, too. */
async function checksAnswer(app: RunningApp): Promise<string> {
  const { results } = await app.call('readiness.run', {})
  const silent = results.filter(({ finding }) => finding === 'checkFailed' || finding === 'checkTimedOut')
  if (silent.length > 0) throw new Error(silent.map(({ check, message }) => `${check}: ${message}`).join(' '))
  for (const check of ['tray', 'sandbox', 'power', 'key'] as const)
    if (!results.some((result) => result.check === check)) throw new Error(`${check} is missing`)
  return results.map(({ check, finding }) => `${check} ${finding}`).join(', ')
}

/** Acts as a client of both APIs: authenticates and creates a room, which the console then shows. */
async function callAsClient(app: RunningApp): Promise<Made> {
  await nodeOnline(app)
  const { credential, secret_key } = await app.call('credentials.create', { label: 'Smoke' })
  const key = { access_key: credential.access_key, secret_key }
  const urls = { media: await app.url('media'), device: await app.url('device') }
  const client = new ApiClient(urls, key)
  const { ret } = await client.authenticate()
  if (ret !== 0) throw new Error(`authenticating was answered with ${ret}`)
  const roomId = await client.createRoom({ topic: 'Smoke' })
  const { items } = await app.call('rooms.list', {})
  if (!items.some(({ room_id }) => room_id === roomId)) throw new Error(`the console does not show room ${roomId}`)
  return { roomId, key }
}

/** Opens the same page over TLS with the site's own certificate, as shown in the console. */
async function roomPageOverTls(app: RunningApp, roomId: string): Promise<string> {
  await app.call('settings.set', { tls: { mode: 'self-signed' } })
  try {
    const media = await until('the APIs speak TLS', async () => {
      const url = await app.url('media')
      return url.startsWith('https:') && url
    })
    const { fingerprint } = await app.call('tls.info')
    return await until('the page comes over TLS', () => fetchPinned(media, roomId, fingerprint))
  } finally {
    await app.call('settings.set', { tls: { mode: 'off' } })
  }
}

/** Adds a camera, and waits for its picture in the console's window. */
async function preview(app: RunningApp, roomId: string, codec: 'h264' | 'h265'): Promise<string> {
  using camera = await startTestCamera({ codec })
  const userId = 'smoke-camera'
  await app.call('devices.create', { roomId, userId, userName: 'Film', userAddress: camera.url })
  await until('the camera has joined', async () => {
    const device = (await app.call('devices.list', {})).find((one) => one.userId === userId)
    return device?.state === 'joined'
  })
  await app.page.evaluate(`void (location.hash = '#/devices/${userId}')`)
  const size = await until('a first picture is shown', () =>
    app.page
      .evaluate(
        `(() => { const video = document.querySelector('video'); return video?.videoWidth > 0 && video.currentTime > 0 ? video.videoWidth + '×' + video.videoHeight : '' })()`,
      )
      .then((shown) => shown !== '' && String(shown)),
  )
  await app.page.evaluate(`void (location.hash = '#/overview')`)
  await app.call('devices.remove', { userIds: [userId] })
  return size
}

/** The same for a picture that browsers cannot show: ffmpeg converts it. */
async function convertedPreview(app: RunningApp, roomId: string): Promise<string> {
  const { results } = await app.call('readiness.run', {})
  const ffmpeg = results.find(({ check }) => check === 'ffmpeg')
  if (ffmpeg?.finding !== 'ffmpegWhole') throw new NotHere(ffmpeg?.message ?? 'ffmpeg was not checked')
  return await preview(app, roomId, 'h265')
}

/** Hangs the page: clients are answered as before meanwhile, and the page goes on. Shorter than what lets Electron report it. */
async function hangPage(app: RunningApp, roomId: string): Promise<string> {
  const media = await app.url('media')
  const hangs = app.page.evaluate(`{ const end = Date.now() + ${hangMs}; while (Date.now() < end); true }`)
  let isHanging = true
  void hangs.catch(() => undefined).finally(() => (isHanging = false))
  let answers = 0
  let longest = 0
  while (isHanging) {
    const began = performance.now()
    await fetchPage(media, roomId)
    longest = Math.max(longest, performance.now() - began)
    answers += 1
    // Many requests from one address are refused.
    await sleep(250)
  }
  await hangs
  await app.answers()
  if (longest > maxAnswerMs) throw new Error(`a client waited ${Math.round(longest)} ms`)
  return `${answers} answers meanwhile, the slowest after ${Math.round(longest)} ms`
}

/** Crashes the page's process; the app reloads it, and the controller is unaffected. */
async function crashPage(app: RunningApp): Promise<string> {
  const before = (await app.call('overview.get')).started_at
  const crashed = app.page.next('Inspector.targetCrashed')
  // The crashing page cannot answer.
  app.page.send('Page.crash').catch(() => undefined)
  await crashed
  await app.answers(30_000)
  const after = (await app.call('overview.get')).started_at
  if (after !== before) throw new Error('the controller started anew with its page')
  return 'loaded again, the controller ran on'
}

/** Kills the process of the embedded node; another one replaces it. */
async function killNode(app: RunningApp): Promise<string> {
  await nodeOnline(app)
  const { pid } = app.process
  if (pid === undefined) throw new Error('the app has no process')
  const find = async (): Promise<number | undefined> =>
    (await descendantsOf(pid)).find(({ command }) => mediaProgram.test(command))?.pid
  const victim = await find()
  if (victim === undefined) throw new Error('no process of the embedded node was found below the app')
  process.kill(victim, 'SIGKILL')
  const next = await until('another process of the node', async () => {
    const found = await find()
    return found !== undefined && found !== victim && found
  })
  await nodeOnline(app)
  return `process ${victim} was killed, ${next} is online`
}

/** Kills the process for graphics: Chromium starts another, and the page goes on. */
async function killGraphics(app: RunningApp): Promise<string> {
  const { pid } = app.process
  if (pid === undefined) throw new Error('the app has no process')
  const victim = (await descendantsOf(pid)).find(({ command }) => command.includes('--type=gpu-process'))
  if (victim === undefined) throw new NotHere('Chromium draws without a process of its own for graphics')
  process.kill(victim.pid, 'SIGKILL')
  await app.answers()
  return `process ${victim.pid} was killed, the page answers`
}

async function startTwice(app: RunningApp, program: Program, userData: string): Promise<string> {
  const { code, signal } = await launchAgain(program, userData)
  if (code !== 0) throw new Error(`the second one ended with ${signal ?? code}`)
  await app.answers()
  return 'the second one ended, the first one answers'
}

async function endBySignal(app: RunningApp): Promise<string> {
  if (process.platform === 'win32') throw new NotHere('Windows has no SIGTERM: logging off is among the questions')
  const began = performance.now()
  const { code, signal } = await app.stop()
  if (code !== 0) throw new Error(`it ended with ${signal ?? code}; it wrote:\n${app.log()}`)
  return `in ${Math.round(performance.now() - began)} ms`
}

/** Starts again: the keychain opens the sealed secret, which is the same, and a client can sign in with it. */
async function startOnKeptData(program: Program, userData: string, key: Made['key']): Promise<string> {
  await using app = await RunningApp.start(program, userData)
  const { secret_key } = await app.call('credentials.reveal', { access_key: key.access_key })
  if (secret_key !== key.secret_key) throw new Error('the secret of the credential is another one')
  const { items } = await app.call('rooms.list', {})
  const client = new ApiClient({ media: await app.url('media'), device: await app.url('device') }, key)
  const { ret } = await client.authenticate()
  if (ret !== 0) throw new Error(`authenticating was answered with ${ret}`)
  return `${items.length} room, its credential, and the secret`
}
