import type { Browser } from 'playwright-core'
import type { LossyProxy } from '../support/media/lossy-proxy.ts'
import type { TestMediaNode } from '../support/media/media-node.ts'

/** Where people publish and watch: over a link that changes, and over one that is always good. */
export interface LinkSite {
  node: TestMediaNode
  browser: Browser
  changing: LossyProxy
  good: LossyProxy
}

/** What can be measured by itself, into one or more rows of the table. */
export interface LinkRow {
  name: string
  measure(site: LinkSite): Promise<void>
}
