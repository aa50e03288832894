import { type BrowserWindow, dialog } from 'electron'
import { mustNotFail } from '../shared/unawaited.ts'
import type { PreferencesFile } from './preferences.ts'
import type { Texts } from './texts.ts'

/** Dependencies of `decideOnClose`. */
export interface CloseBehaviour {
  preferences: PreferencesFile
  texts: () => Texts
  isQuitting: () => boolean
  hide: () => void
  quit: () => void
}

/**
 * Hides the window to the tray or quits the app when the window is closed, as the operator chose. Asks the operator the
 * first time.
 */
export function decideOnClose(window: BrowserWindow, behaviour: CloseBehaviour): void {
  let asking = false
  window.on('close', (event) => {
    if (behaviour.isQuitting()) return
    event.preventDefault()
    const { close } = behaviour.preferences.current
    if (close === 'hide') behaviour.hide()
    else if (close === 'quit') behaviour.quit()
    else if (!asking) {
      asking = true
      mustNotFail(ask(window, behaviour).finally(() => (asking = false)))
    }
  })
}

async function ask(window: BrowserWindow, behaviour: CloseBehaviour): Promise<void> {
  const texts = behaviour.texts()
  const choices = ['hide', 'quit'] as const
  const { response, checkboxChecked } = await dialog.showMessageBox(window, {
    type: 'question',
    title: 'Roomdesk',
    message: texts.closeQuestion,
    detail: texts.closeDetail,
    buttons: [texts.keepRunning, texts.quit, texts.cancel],
    defaultId: 0,
    cancelId: 2,
    checkboxLabel: texts.closeRemember,
    checkboxChecked: true,
  })
  const choice = choices[response]
  if (choice === undefined) return
  if (checkboxChecked) behaviour.preferences.set({ close: choice })
  behaviour[choice]()
}
