/** The operator cancelled the Save dialog: no error, and no message. */
export class NotSavedError extends Error {
  override readonly name = 'NotSavedError'
}

/** Returns the name of a saved file with its time in UTC. @param at milliseconds since the epoch; default: now */
export function datedName(subject: string, ending: string, at = Date.now()): string {
  return `roomdesk-${subject}-${new Date(at).toISOString().slice(0, 19).replaceAll(':', '')}.${ending}`
}

/** Saves a text as a file, like `saveFile`. */
export function saveText(name: string, text: string, type: string): Promise<void> {
  return saveFile(name, new Blob([text], { type }))
}

/** The system could not write the file. */
export class FileNotWrittenError extends Error {
  override readonly name = 'FileNotWrittenError'
}

/**
 * Saves a file for the operator. In the desktop app it resolves after a dialog, when the file is written. A browser
 * shows downloads itself and reports nothing to the page: there it resolves at once.
 * @throws NotSavedError if the operator cancels; FileNotWrittenError
 */
export async function saveFile(name: string, content: Blob): Promise<void> {
  const url = URL.createObjectURL(content)
  const { roomdesk } = window
  const written = roomdesk === undefined ? undefined : ended(roomdesk, url)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  if (written === undefined) {
    setTimeout(() => URL.revokeObjectURL(url), 10_000)
    return
  }
  const state = await written
  URL.revokeObjectURL(url)
  if (state === 'cancelled') throw new NotSavedError()
  if (state !== 'completed') throw new FileNotWrittenError()
}

function ended(bridge: RoomdeskBridge, url: string): Promise<DownloadEnd['state']> {
  return new Promise((resolve) => {
    const stop = bridge.onDownload((download) => {
      if (download.url !== url) return
      stop()
      resolve(download.state)
    })
  })
}
