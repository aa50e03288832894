import type { DownloadItem, WebContents } from 'electron'
import { origin } from './app-scheme.ts'
import { channels } from './channels.ts'
import { isOurs } from './hardening.ts'
import type { PageSession } from './page-sender.ts'

/** Result of a download that the page started. */
export interface DownloadEnd {
  /** URL of the downloaded file: `blob:…`, created by the page, or the URL of an export of recordings. */
  url: string
  /** `cancelled`: the operator closed the Save dialog. */
  state: 'completed' | 'cancelled' | 'interrupted'
}

/**
 * Notifies the page of the result of its downloads, because the click returns before the Save dialog appears. Blocks
 * all other downloads. Must be called when the app is ready.
 */
export function followDownloads(sessions: readonly PageSession[]): void {
  for (const { session, role } of sessions)
    session.on('will-download', (event, item, contents) => {
      const url = item.getURL()
      // A blob URL contains the page's origin; the URL of an export of recordings starts with this origin.
      const own = url.startsWith('blob:') || url.startsWith(`${origin}/recordings/`)
      if (own && role === 'admin' && isOurs(contents.getURL())) follow(item, contents)
      else event.preventDefault()
    })
}

function follow(item: DownloadItem, contents: WebContents): void {
  const url = item.getURL()
  item.once('done', (_event, state) => {
    const end: DownloadEnd = { url, state }
    if (!contents.isDestroyed()) contents.send(channels.download, end)
  })
}
