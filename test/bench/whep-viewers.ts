/** WHEP viewers in a process of their own, so that their work does not count as the node's. Each message is answered with the packets received so far. */
import { CountedViewer } from '../support/media/counted-viewer.ts'
import { WhepPeer } from '../support/media/whep-peer.ts'
import { serveRequests } from './rest.ts'

/** Kind of viewer: it counts packets (`CountedViewer`), receives them completely (`WhepPeer`), or does so with an offer of the server. */
export type Viewing = 'counted' | 'whole' | 'offered'

/** Request to the viewers. */
export interface ViewersRequest {
  /** This many more connect and stay. */
  open?: number
  /** This many connect and leave, ten at a time: each waits for a second now and then, as the library repeats a lost message. */
  cycles?: number
  /** Number that connect at a time; default: one. */
  atOnce?: number
  /** Replaces the previous token, which may expire early. */
  token?: string
  /** All that stayed leave, after the count. */
  leave?: boolean
}

/** Received packets. */
export interface ViewersSeen {
  /** Packets of all viewers, including those that have left. */
  packets: number
  /** Video packets of each viewer that stayed, and those sent since its first one, by sequence numbers. */
  video: { received: number; sent: number }[]
  /** Time from the offer to the first packet, for each that connected with this message, in milliseconds. */
  firstMs: number[]
  /** Reasons of failed connections. */
  failures: string[]
}

const [url = '', firstToken = '', viewing = 'counted'] = process.argv.slice(2)
let token = firstToken
const cyclesAtOnce = 10

type Viewer = CountedViewer | WhepPeer

const viewers: Viewer[] = []
/** Packets of viewers that have left. */
let earlierPackets = 0

async function come(): Promise<Viewer> {
  if (viewing === 'counted') return await CountedViewer.open(url, token)
  return await (viewing === 'whole' ? WhepPeer.open(url, token) : WhepPeer.openOffered(url))
}

async function comeAndGo(): Promise<void> {
  const viewer = await come()
  await viewer.close()
  earlierPackets += viewer.packets
}

/** Runs it `count` times, some at a time. */
async function times(count: number, atOnce: number, run: () => Promise<void>): Promise<void> {
  let left = count
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1
      await run()
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, worker))
}

async function handle({ open = 0, cycles = 0, atOnce = 1, leave = false, ...more }: ViewersRequest): Promise<void> {
  token = more.token ?? token
  const failures: string[] = []
  const firstMs: number[] = []
  await times(open, atOnce, async () => {
    const began = performance.now()
    try {
      viewers.push(await come())
      firstMs.push(performance.now() - began)
    } catch (error) {
      failures.push(String(error))
    }
  })
  await times(cycles, cyclesAtOnce, comeAndGo)
  const packets = viewers.reduce((sum, viewer) => sum + viewer.packets, earlierPackets)
  const video = viewers.map(({ video: { received, sent } }) => ({ received, sent }))
  if (leave) for (const viewer of viewers.splice(0)) await viewer.close()
  process.send?.({ packets, video, firstMs, failures } satisfies ViewersSeen)
}

serveRequests(handle)
