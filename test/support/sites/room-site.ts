import type { BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { ProcedureInput } from '../../../shared/console/contract.ts'
import { violations } from '../axe.ts'
import { type Camera, startCamera } from '../camera/camera.ts'
import { openWindows, type Windows } from '../chromium.ts'
import { MachineLoad } from '../machine-load.ts'
import { filmFile } from '../media/film.ts'
import { type Headless, startHeadless } from '../headless.ts'

/** What a page is given for camera and microphone. `asking`: devices, but nobody says yes. */
export type Equipment = 'fake' | 'asking' | 'none'

const flagsOf: Record<Equipment, string[]> = {
  fake: ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'],
  asking: ['--use-fake-device-for-media-stream', '--deny-permission-prompts'],
  none: [],
}
/** Milliseconds within which a page on a busy machine shows what it is told. */
const patienceMs = 20_000

/** A controller with its embedded node, a camera, and browsers for people. */
export class RoomSite implements AsyncDisposable {
  controller: Headless
  readonly #browsers = new Map<Equipment, Promise<Windows>>()
  #camera: Camera | undefined

  private constructor(controller: Headless) {
    this.controller = controller
  }

  static async start(site: unknown = { nodes: [{ name: 'here', kind: 'embedded' }] }): Promise<RoomSite> {
    return new RoomSite(await startHeadless({ site }))
  }

  /** One that runs already. It is ended with this. */
  static at(controller: Headless): RoomSite {
    return new RoomSite(controller)
  }

  /** Ends the controller in order. */
  async stop(): Promise<void> {
    await this.controller.stop()
  }

  /** Starts it on the same data and ports. */
  async startAgain(): Promise<void> {
    const { folder, ready } = this.controller
    const port = (url: string): string => new URL(url).port
    const { media, device, node, console } = ready
    this.controller = await startHeadless({
      folder,
      flags: [
        ...['--media-port', port(media), '--device-port', port(device)],
        ...['--node-port', port(node), '--console-port', port(console)],
      ],
    })
  }

  /** Makes a room and returns its number. */
  async room(input: Partial<ProcedureInput<'rooms.create'>> = {}): Promise<string> {
    const { room_id } = await this.controller.rpc('rooms.create', { topic: 'Control room', ...input })
    return room_id
  }

  /** Puts a real camera into a room. */
  async camera(roomId: string, userId: string, userName: string): Promise<Camera> {
    this.#camera ??= await startCamera({ width: 640, height: 360, fps: 8, gop: 8 })
    await this.controller.rpc('devices.create', {
      roomId,
      userId,
      userName,
      userAddress: this.#camera.url('/cam'),
      assist_address: this.#camera.url('/small'),
      join: 'required',
    })
    return this.#camera
  }

  /** A join link, as the operator copies it. */
  async link(roomId: string, wish: Partial<ProcedureInput<'media.join_link'>> = {}): Promise<string> {
    const { url } = await this.controller.rpc('media.join_link', { room_id: roomId, ...wish })
    return url
  }

  /** A browser window of somebody's own. */
  async window(equipment: Equipment = 'fake', options: BrowserContextOptions = {}): Promise<Page> {
    const launched = this.#browsers.get(equipment) ?? this.#launch(equipment)
    this.#browsers.set(equipment, launched)
    const browser = await launched
    const context = await browser.newContext({ viewport: { width: 1_000, height: 640 }, locale: 'en-GB', ...options })
    context.setDefaultTimeout(patienceMs)
    return await context.newPage()
  }

  async #launch(equipment: Equipment): Promise<Windows> {
    const filming = equipment === 'fake' ? [`--use-file-for-fake-video-capture=${await filmFile()}`] : []
    return await openWindows([...flagsOf[equipment], ...filming], equipment === 'asking')
  }

  /** Somebody opens a link, enters a name where the link gives none, and joins. */
  async join(
    link: string,
    { name, ...options }: { name?: string; equipment?: Equipment } & BrowserContextOptions = {},
  ): Promise<Visitor> {
    const visitor = await this.open(link, options)
    await visitor.enter(name)
    return visitor
  }

  /** Somebody opens an address. */
  async open(
    url: string,
    { equipment, ...options }: { equipment?: Equipment } & BrowserContextOptions = {},
  ): Promise<Visitor> {
    const visitor = new Visitor(await this.window(equipment, options))
    await visitor.page.goto(url)
    return visitor
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const browser of this.#browsers.values()) await (await browser).close()
    await this.#camera?.kill()
    await this.controller.remove()
  }
}

/** See Visitor.watchPeace. */
export interface Peace {
  words: string[]
  connections: number
  standstill: number
  /** Bound on the standstill, in milliseconds. */
  unnoticedMs: number
}

/** Standstills of pictures that nobody notices, in milliseconds; a machine that was busy meanwhile gets more. */
const unnoticedMs = { quiet: 600, busy: 2_000 }

/** Nobody noticed anything. @returns for how long a picture stood still at most, in milliseconds */
export async function expectPeace(...visits: (() => Promise<Peace>)[]): Promise<number> {
  const seen = await Promise.all(visits.map((visit) => visit()))
  expect(seen).toEqual(seen.map((peace) => ({ ...peace, words: [], connections: 0 })))
  for (const { standstill, unnoticedMs: bound } of seen) expect(standstill).toBeLessThan(bound)
  return Math.max(...seen.map(({ standstill }) => standstill))
}

/** Somebody in front of the page. */
export class Visitor {
  readonly page: Page
  /** Exceptions of the page. */
  readonly problems: string[] = []

  constructor(page: Page) {
    this.page = page
    page.on('pageerror', (error) => this.problems.push(error.message))
  }

  /** Through the entrance; with camera and microphone on where there are any. */
  async enter(name?: string): Promise<void> {
    if (name !== undefined) await this.page.getByLabel('Your name').fill(name)
    await this.page.getByRole('button', { name: /^(Join|加入)/ }).click()
    await this.page.getByRole('toolbar').waitFor()
  }

  /** The tile of somebody, by what stands on it. */
  tile(name: string) {
    return this.page.getByRole('listitem', { name, exact: true })
  }

  /** Resolves when this many more pictures of a tile were decoded and shown. */
  async sees(name: string, more = 5): Promise<void> {
    await this.tile(name).locator('video').waitFor({ state: 'attached' })
    const frames = `document.querySelector('[aria-label=${JSON.stringify(name)}] video')?.getVideoPlaybackQuality().totalVideoFrames`
    // It may just be taken away again: then whatever comes is new.
    const before = Number(await this.page.evaluate(frames)) || 0
    // A new picture begins to count anew.
    await this.until(`${frames} >= ${before + more} || ${frames} < ${before}`)
  }

  /** Resolves when no more pictures of a tile come, for so many milliseconds. */
  async pauses(name: string, ms = 1_000): Promise<void> {
    const frames = `document.querySelector('[aria-label=${JSON.stringify(name)}] video')?.getVideoPlaybackQuality().totalVideoFrames`
    // A tile that shows none any more has no count: it is the same one, too.
    for (let before = -1, now = 0; !Object.is(before, now); ) {
      before = now
      await new Promise((resolve) => setTimeout(resolve, ms))
      now = Number(await this.page.evaluate(frames))
    }
  }

  /**
   * Watches from now on for how long the pictures of these tiles stand still, whichever elements show them.
   * @returns what tells the longest time until then, in milliseconds
   */
  async watchStandstill(...names: string[]): Promise<() => Promise<number>> {
    await this.page.evaluate(`(() => {
      const tiles = ${JSON.stringify(names)}.map((name) => ({ name, element: null, frames: 0, at: performance.now() }))
      globalThis.standstill = 0
      const look = () => {
        for (const tile of tiles) {
          const element = document.querySelector('[aria-label=' + JSON.stringify(tile.name) + '] video')
          const frames = element?.getVideoPlaybackQuality().totalVideoFrames ?? 0
          const before = element === tile.element ? tile.frames : 0
          Object.assign(tile, { element, frames })
          if (frames > before) tile.at = performance.now()
          globalThis.standstill = Math.max(globalThis.standstill, performance.now() - tile.at)
        }
      }
      setInterval(look, 20)
    })()`)
    return async () => Math.round(Number(await this.page.evaluate('globalThis.standstill')))
  }

  /** Writes into the chat, which is open; where the page is told to be offline, until it goes out. */
  async says(text: string): Promise<void> {
    const line = this.page.getByLabel('Message')
    await line.fill(text)
    do {
      await line.press('Enter')
      await new Promise((resolve) => setTimeout(resolve, 50))
    } while ((await line.inputValue()) !== '')
  }

  /** Resolves when somebody has said that in the chat, which is open. */
  async reads(text: string): Promise<void> {
    await this.page.getByRole('log').getByText(text, { exact: true }).waitFor()
  }

  /** Counts from now on the connections for sound and pictures that the page makes. @returns what tells how many until then */
  async watchConnections(): Promise<() => Promise<number>> {
    await this.page.evaluate(`(() => {
      globalThis.connectionsMade = 0
      globalThis.RTCPeerConnection = class extends RTCPeerConnection {
        constructor(...how) {
          super(...how)
          globalThis.connectionsMade += 1
        }
      }
    })()`)
    return async () => Number(await this.page.evaluate('globalThis.connectionsMade'))
  }

  /** Listens to what the page tells by itself, once it has nothing to say. @returns what tells every sentence until then */
  async watchWords(): Promise<() => Promise<string[]>> {
    await this.until(`document.querySelector('[role=status] li') === null`)
    await this.page.evaluate(`(() => {
      globalThis.words = new Set()
      setInterval(() => {
        for (const { innerText } of document.querySelectorAll('[role=status], [role=alert], [aria-live]'))
          for (const line of innerText.split('\\n')) if (line.trim() !== '') globalThis.words.add(line.trim())
      }, 20)
    })()`)
    return async () => await this.page.evaluate<string[]>('[...globalThis.words]')
  }

  /**
   * Watches from now on what somebody would notice of a fault: what the page tells by itself, the connections for sound and pictures that it makes, and for how long the pictures
   * of these tiles stand still at most, in milliseconds.
   */
  async watchPeace(...names: string[]): Promise<() => Promise<Peace>> {
    const load = new MachineLoad()
    const words = await this.watchWords()
    const made = await this.watchConnections()
    const longest = await this.watchStandstill(...names)
    return async () => {
      const standstill = await longest()
      return { words: await words(), connections: await made(), standstill, unnoticedMs: load.bound(unnoticedMs) }
    }
  }

  /** Resolves when an expression holds in the page. Its content security policy evaluates no texts, so that it is asked from outside. */
  async until(expression: string): Promise<void> {
    const end = performance.now() + patienceMs
    while ((await this.page.evaluate(expression)) !== true) {
      if (performance.now() > end) throw new Error(`it never held in the page: ${expression}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  /** A control by its word. */
  button(name: string) {
    return this.page.getByRole('toolbar').getByRole('button', { name })
  }

  /** What axe finds wrong on the page as it is. */
  accessibilityProblems(looksFor?: 'everything' | 'colours'): Promise<string[]> {
    return violations(this.page, looksFor)
  }

  /** Closes the tab. The headless shell would drop it without telling its page, as when a machine loses its power. */
  async close(): Promise<void> {
    await this.page.goto('about:blank')
    await this.page.context().close()
  }
}
