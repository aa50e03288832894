import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser } from 'playwright-core'
import type { LinkConditions } from '../support/media/link.ts'
import type { LossyProxy } from '../support/media/lossy-proxy.ts'
import type { TestMediaNode } from '../support/media/media-node.ts'

/** A node for publishers and viewers, reached over a link that changes, and over one that is always good. */
export interface LinkSite {
  node: TestMediaNode
  browser: Browser
  changing: LossyProxy
  good: LossyProxy
}

/** A separate measurement of one or more rows of the table. */
export interface LinkRow {
  name: string
  measure(site: LinkSite): Promise<void>
}

/** A link that is bad, not small. */
export interface BadLink {
  row: string
  name: string
  /** Minimum share of frames that arrive. */
  goal: number
  conditions: Partial<LinkConditions>
}

export const badLinks: readonly BadLink[] = [
  { row: 'loss2', name: 'loss 2%', goal: 0.98, conditions: { loss: 0.02 } },
  { row: 'loss10', name: 'loss 10%', goal: 0.94, conditions: { loss: 0.1 } },
  { row: 'slow', name: 'round trip 200 ms', goal: 0.98, conditions: { delayMs: 100 } },
  { row: 'both', name: 'round trip 200 ms and loss 5%', goal: 0.9, conditions: { delayMs: 100, loss: 0.05 } },
  { row: 'jitter', name: 'jitter 40 ms', goal: 0.98, conditions: { delayMs: 20, jitterMs: 40 } },
]

/** Makes a link this bad in both directions, measures from a second later on, and restores it. */
export async function overBadLink(
  { toClient, toTarget }: LossyProxy,
  { conditions }: BadLink,
  measure: () => Promise<void>,
): Promise<void> {
  const before = { loss: toClient.loss, delayMs: toClient.delayMs, jitterMs: toClient.jitterMs }
  for (const link of [toClient, toTarget]) Object.assign(link, conditions)
  await sleep(1_000)
  await measure()
  for (const link of [toClient, toTarget]) Object.assign(link, before)
}
