import type { BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { ProcedureInput } from '../../../shared/console/contract.ts'
import { violations } from '../axe.ts'
import { startTestCamera } from '../camera/test-camera.ts'
import { openWindows, type Windows } from '../chromium.ts'
import { MachineLoad } from '../machine-load.ts'
import { filmFile } from '../media/film.ts'
import { type Headless, startHeadless } from '../headless.ts'

/** Camera and microphone of a page. `asking`: devices, but nobody grants the permission. */
export type Equipment = 'fake' | 'asking' | 'none'

const flagsOf: Record<Equipment, string[]> = {
  fake: ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'],
  asking: ['--use-fake-device-for-media-stream', '--deny-permission-prompts'],
  none: [],
}
/** Time within which a page on a busy machine shows a change, in milliseconds. */
const patienceMs = 20_000

/** A camera and the address of its substream. */
export interface RoomCamera extends AsyncDisposable {
  url: string
  smallUrl: string
}

/** A controller with its embedded node, a camera, and browsers of users. */
export class RoomSite implements AsyncDisposable {
  controller: Headless
  readonly #browsers = new Map<Equipment, Promise<Windows>>()
  #camera: RoomCamera | undefined

  private constructor(controller: Headless) {
    this.controller = controller
  }

  static async start(site: unknown = { nodes: [{ name: 'here', kind: 'embedded' }] }): Promise<RoomSite> {
    return new RoomSite(await startHeadless({ site }))
  }

  /** Uses a running controller and ends it with the site. */
  static at(controller: Headless): RoomSite {
    return new RoomSite(controller)
  }

  /** Ends the controller in order. */
  async stop(): Promise<void> {
    await this.controller.stop()
  }

  /** Starts it again on the same data and ports. */
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

  /** Creates a room and returns its number. */
  async room(input: Partial<ProcedureInput<'rooms.create'>> = {}): Promise<string> {
    const { room_id } = await this.controller.rpc('rooms.create', { topic: 'Control room', ...input })
    return room_id
  }

  /** Adds a camera with a substream to a room. @param start starts the camera of the site; default: a test camera */
  async camera(
    roomId: string,
    userId: string,
    userName: string,
    start: () => Promise<RoomCamera> = () => startTestCamera({ sound: 'pcmu' }),
  ): Promise<void> {
    this.#camera ??= await start()
    const { url: userAddress, smallUrl: assist_address } = this.#camera
    const device = { roomId, userId, userName, userAddress, assist_address }
    await this.controller.rpc('devices.create', { ...device, join: 'required' })
  }

  /** Makes a join link, as the operator copies it. */
  async link(roomId: string, wish: Partial<ProcedureInput<'media.join_link'>> = {}): Promise<string> {
    const { url } = await this.controller.rpc('media.join_link', { room_id: roomId, ...wish })
    return url
  }

  /** Opens a browser window with a profile of its own. */
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

  /** Opens a link, enters a name unless the link has one, and joins. */
  async join(
    link: string,
    { name, ...options }: { name?: string; equipment?: Equipment } & BrowserContextOptions = {},
  ): Promise<Visitor> {
    const visitor = await this.open(link, options)
    await visitor.enter(name)
    return visitor
  }

  /** Opens an address. */
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
    await this.#camera?.[Symbol.asyncDispose]()
    await this.controller.remove()
  }
}

/** See Visitor.watchPeace. */
export interface Peace {
  words: string[]
  connections: number
  standstill: number
  /** Maximum standstill, in milliseconds. */
  unnoticedMs: number
}

/** Standstills of pictures that nobody notices, in milliseconds; a busy machine gets more. */
const unnoticedMs = { quiet: 600, busy: 2_000 }

/** Expects that no visitor noticed anything. @returns the maximum standstill of a picture, in milliseconds */
export async function expectPeace(...visits: (() => Promise<Peace>)[]): Promise<number> {
  const seen = await Promise.all(visits.map((visit) => visit()))
  expect(seen).toEqual(seen.map((peace) => ({ ...peace, words: [], connections: 0 })))
  for (const { standstill, unnoticedMs: bound } of seen) expect(standstill).toBeLessThan(bound)
  return Math.max(...seen.map(({ standstill }) => standstill))
}

/** A user in front of the page. */
export class Visitor {
  readonly page: Page
  /** Exceptions of the page. */
  readonly problems: string[] = []

  constructor(page: Page) {
    this.page = page
    page.on('pageerror', (error) => this.problems.push(error.message))
  }

  /** Joins through the entrance, with camera and microphone on if available. */
  async enter(name?: string): Promise<void> {
    if (name !== undefined) await this.page.getByLabel('Your name').fill(name)
    await this.page.getByRole('button', { name: /^(Join|加入|Teilnehmen)/ }).click()
    await this.page.getByRole('toolbar').waitFor()
  }

  /** Finds a user's tile by the name on it. */
  tile(name: string) {
    return this.page.getByRole('listitem', { name, exact: true })
  }

  /** Resolves when a tile has decoded and shown this many more pictures. */
  async sees(name: string, more = 5): Promise<void> {
    await this.tile(name).locator('video').waitFor({ state: 'attached' })
    const frames = `document.querySelector('[aria-label=${JSON.stringify(name)}] video')?.getVideoPlaybackQuality().totalVideoFrames`
    // The tile may just disappear: then every later picture is new.
    const before = Number(await this.page.evaluate(frames)) || 0
    // A new video element counts from 0.
    await this.until(`${frames} >= ${before + more} || ${frames} < ${before}`)
  }

  /** Resolves when a tile has had no new picture for this many milliseconds. */
  async pauses(name: string, ms = 1_000): Promise<void> {
    const frames = `document.querySelector('[aria-label=${JSON.stringify(name)}] video')?.getVideoPlaybackQuality().totalVideoFrames`
    // A tile without pictures has no count, which also stays the same.
    for (let before = -1, now = 0; !Object.is(before, now); ) {
      before = now
      await new Promise((resolve) => setTimeout(resolve, ms))
      now = Number(await this.page.evaluate(frames))
    }
  }

  /**
   * Measures from now on how long the pictures of these tiles stand still, in whichever elements.
   * @returns a function that reads the maximum until then, in milliseconds
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

  /** Writes into the open chat; in an offline page, resolves when the message is sent. */
  async says(text: string): Promise<void> {
    const line = this.page.getByLabel('Message')
    await line.fill(text)
    do {
      await line.press('Enter')
      await new Promise((resolve) => setTimeout(resolve, 50))
    } while ((await line.inputValue()) !== '')
  }

  /** Resolves when the message is in the open chat. */
  async reads(text: string): Promise<void> {
    await this.page.getByRole('log').getByText(text, { exact: true }).waitFor()
  }

  /** Counts the media connections that the page makes from now on. @returns a function that reads the count */
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

  /** Records the page's live announcements, once it is silent. @returns a function that reads them */
  async watchWords(): Promise<() => Promise<string[]>> {
    await this.until(`document.querySelector('[role=status] li') === null`)
    await this.page.evaluate(`(() => {
      const lines = () => [...document.querySelectorAll('[role=status], [role=alert], [aria-live]')]
        .flatMap(({ innerText }) => innerText.split('\\n').map((line) => line.trim())).filter((line) => line !== '')
      globalThis.words = new Set()
      // The region for screen readers keeps its last announcement.
      let kept = new Set(lines())
      setInterval(() => {
        kept = kept.intersection(new Set(lines()))
        for (const line of lines()) if (!kept.has(line)) globalThis.words.add(line)
      }, 20)
    })()`)
    return async () => await this.page.evaluate<string[]>('[...globalThis.words]')
  }

  /**
   * Records from now on everything that a user would notice of a fault: live announcements, new media connections, and the maximum standstill of the pictures
   * in these tiles, in milliseconds.
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

  /** Resolves when an expression holds in the page. Evaluates from outside, because its content security policy forbids eval. */
  async until(expression: string): Promise<void> {
    const end = performance.now() + patienceMs
    while ((await this.page.evaluate(expression)) !== true) {
      if (performance.now() > end) throw new Error(`it never held in the page: ${expression}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  /** Finds a button by its label. */
  button(name: string) {
    return this.page.getByRole('toolbar').getByRole('button', { name })
  }

  /** Finds accessibility violations on the current page. */
  accessibilityProblems(looksFor?: 'everything' | 'colours'): Promise<string[]> {
    return violations(this.page, looksFor)
  }

  /** Closes the tab. The headless shell would drop it without an event for its page, as in a power failure. */
  async close(): Promise<void> {
    await this.page.goto('about:blank')
    await this.page.context().close()
  }
}
