import { app } from 'electron'
import { appId } from './app-id.ts'

/** Gives the windows and notifications the id of the app, by which Windows finds its shortcut. Other systems find it by their own files. */
export function nameForTaskbar(): void {
  if (process.platform === 'win32') app.setAppUserModelId(appId)
}
