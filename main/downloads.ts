import { type DownloadItem, session, type WebContents } from 'electron'
import { channels } from './channels.ts'
import { isOurs } from './hardening.ts'

/** Outcome for a file that the page hands to the operator. */
export interface DownloadEnd {
  /** As the page has made it, `blob:…`. */
  url: string
  /** Cancelled: the operator has closed the dialog that asks where to. */
  state: 'completed' | 'cancelled' | 'interrupted'
}

/** Tells the page when its file is written, because the dialog that asks where to comes after the click. Nothing else is downloaded. When the app is ready. */
export function followDownloads(): void {
  session.defaultSession.on('will-download', (event, item, contents) => {
    // A file that the page makes has an address of the page's own origin.
    if (item.getURL().startsWith('blob:') && isOurs(contents.getURL())) follow(item, contents)
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
