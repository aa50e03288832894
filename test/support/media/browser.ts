import type { Browser, Page } from 'playwright-core'
import { openChromium, openWindows, type Windows } from '../chromium.ts'

const flags = [
  '--use-fake-device-for-media-stream',
  '--use-fake-ui-for-media-stream',
  '--autoplay-policy=no-user-gesture-required',
]

/** Readings of one direction of one kind of media. */
export interface FlowStats {
  /** Encoded, for what is sent. */
  framesDecoded: number
  framesPerSecond: number
  /** Whole ones that came, and those of them that the browser left out. */
  framesReceived: number
  framesDropped: number
  packets: number
  bytes: number
  packetsLost: number
  freezes: number
  /** Of sound: more than 0 when it is not silence. */
  energy: number
  keyFrames: number
  targetBitrate: number
  nacks: number
  height: number
  /** Of sound: what was played, and how much of it was made up. */
  samples: number
  concealed: number
}

/** Readings of one peer connection in the page. */
export interface PeerStats {
  state: string
  /** Status of the PATCH with the addresses; 0 when there was none. */
  patched: number
  /** From the offer to the first picture shown; 0 before. */
  firstFrameMs: number
  /** What the browser believes it may send, in bits per second. */
  availableBitrate?: number
  video?: FlowStats
  audio?: FlowStats
  videoSent?: FlowStats
  audioSent?: FlowStats
}

/** What the node answered to an offer. */
export interface Answered {
  status: number
  problem: { status: number; reason: string; code?: number; detail: string } | null
  sdp: string
}

/** How the page offers. */
export interface Offering {
  /** The one video codec that is offered; left out: every one. */
  codec?: string
  /** When the page tells its addresses; never: it is reached by the address its packets come from. */
  addresses?: 'offer' | 'later' | 'never'
  /** Of the addresses that the node offers, the one that is used; left out: any. */
  through?: string
  /** A picture of 720 lines in three sizes at once, `l`, `m` and `h`. For publishing. */
  layered?: boolean
  /** What is published: noise takes all that may be sent. */
  pictures?: 'camera' | 'noise'
  /** Of publishing: whether to be told when packets come is offered; it is where this is left out. */
  transportFeedback?: boolean
  /** A picture that costs little. For publishing. */
  small?: boolean
}

/** What of page/client.js is called from here. */
interface PageClient {
  watch(name: string, url: string, token: string, how: Offering): Promise<Answered>
  watchOffered(name: string, url: string, token?: string): Promise<Answered>
  publish(name: string, url: string, token: string, how: Offering): Promise<Answered>
  stats(name: string): Promise<PeerStats>
  observe(name: string): void
  maxGap(name: string): number
  close(name: string, polite: boolean): Promise<number>
  isOver(name: string): Promise<boolean>
  restart(name: string): Promise<string>
  enable(name: string, kind: 'video' | 'audio', on: boolean): void
  activate(name: string, rids: readonly string[]): Promise<void>
  colours(png: string, places: [number, number][]): Promise<number[][]>
  peerOffer(name: string): Promise<string>
  peerAnswer(name: string, sdp: string): Promise<string>
  peerCandidates(name: string): { candidate: string; sdpMid: string }[]
  peerFinish(name: string, sdp: string): Promise<void>
  peerAddress(name: string, candidate: string, mid: string): Promise<void>
}

/** Windows with fake camera and microphone, in a Chromium that the test files of this process share. */
export async function openMediaWindows(): Promise<Windows> {
  return await openWindows(flags)
}

/** Starts Chromium with fake camera and microphone. */
export async function startBrowser(): Promise<Browser> {
  return await openChromium(flags)
}

/** A tab that publishes and watches. */
export class MediaPage {
  readonly page: Page
  private constructor(page: Page) {
    this.page = page
  }

  /** @param url of the node, which serves the page */
  static async open(browser: Pick<Windows, 'newPage'>, url: string): Promise<MediaPage> {
    const page = await browser.newPage({ viewport: { width: 700, height: 500 } })
    await page.goto(`${url}/room/`)
    await page.waitForFunction('globalThis.client !== undefined')
    return new MediaPage(page)
  }

  /** Calls the page's side. */
  async call<N extends keyof PageClient>(
    name: N,
    ...parameters: Parameters<PageClient[N]>
  ): Promise<Awaited<ReturnType<PageClient[N]>>> {
    return await this.page.evaluate(
      async ([method, values]) => {
        const { client } = globalThis as unknown as { client: Record<string, (...all: unknown[]) => Promise<never>> }
        const run = client[method]
        if (run === undefined) throw new Error(`the page has no ${method}`)
        return await run(...values)
      },
      [name, parameters] as const,
    )
  }

  /** Readings once they match; fails with the last ones. */
  async until(name: string, matches: (stats: PeerStats) => boolean, withinMs = 20_000): Promise<PeerStats> {
    const limit = performance.now() + withinMs
    for (;;) {
      const stats = await this.call('stats', name)
      if (matches(stats)) return stats
      if (performance.now() > limit) throw new Error(`it did not come to that: ${JSON.stringify(stats)}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  /** So many more pictures are decoded from now on. */
  async decodes(name: string, more = 10, withinMs = 20_000): Promise<PeerStats> {
    const before = (await this.call('stats', name)).video?.framesDecoded ?? 0
    return await this.until(name, ({ video }) => (video?.framesDecoded ?? 0) >= before + more, withinMs)
  }

  /** Colours of what is shown of a stream, at places given as shares of its size. */
  async colours(name: string, ...places: [number, number][]): Promise<number[][]> {
    const png = await this.page.locator(`#${name}`).screenshot()
    return await this.call('colours', png.toString('base64'), places)
  }
}
