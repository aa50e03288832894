import { type BrowserWindow, dialog } from 'electron'
import { mustNotFail } from '../shared/unawaited.ts'
import type { Texts } from './texts.ts'

/** Maximum number of pending texts; the newest are kept. */
const maxWaiting = 20

/**
 * Shows texts in the console's window that the system did not show as notifications. Shows them at once if the window
 * is visible, otherwise when it becomes visible.
 */
export class WindowNotices {
  readonly #texts: () => Texts
  #window: BrowserWindow | undefined
  #waiting: string[] = []
  #isReporting = false

  constructor(texts: () => Texts) {
    this.#texts = texts
  }

  /** Shows notices in this window from now on, until it is closed. */
  attach(window: BrowserWindow): void {
    this.#window = window
    const tell = (): void => mustNotFail(this.#notify())
    window.on('show', tell)
    window.on('restore', tell)
    window.on('closed', () => {
      if (this.#window === window) this.#window = undefined
    })
  }

  add(text: string): void {
    this.#waiting = [...this.#waiting, text].slice(-maxWaiting)
    mustNotFail(this.#notify())
  }

  /** Shows dialogs until no text is pending, one dialog at a time, each with all pending texts. */
  async #notify(): Promise<void> {
    while (!this.#isReporting && this.#waiting.length > 0) {
      const window = this.#window
      if (window === undefined || !window.isVisible() || window.isMinimized()) return
      const lines = this.#waiting
      this.#waiting = []
      this.#isReporting = true
      const message = lines.length === 1 ? lines.join() : this.#texts().notShown
      const detail = lines.length === 1 ? '' : lines.join('\n')
      await dialog.showMessageBox(window, { type: 'warning', title: 'Roomdesk', message, detail }).finally(() => {
        this.#isReporting = false
      })
    }
  }
}
