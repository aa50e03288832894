import { app } from 'electron'
import { startDesktop } from './desktop.ts'
import { startMode } from './start-mode.ts'
import { startWithoutWindow } from './without-window.ts'
import { lacksHeadlessPlatform, runOnHeadlessPlatform } from './headless-platform.ts'
import { quitRunningApp } from './quit-running.ts'
import { changeService } from './service/service-command.ts'
import { placeUserFolder } from './user-folder.ts'

const modes = { desktop: startDesktop, headless: startWithoutWindow, quit: quitRunningApp, service: changeService }
const mode = startMode(process.argv, app.isPackaged)
if (mode !== 'desktop' && lacksHeadlessPlatform(process.argv)) await runOnHeadlessPlatform()
modes[mode](await placeUserFolder(mode))
