import { startDesktop } from './desktop.ts'
import { faceOf } from './face.ts'
import { startWithoutWindow } from './headless-face.ts'
import { quitRunningApp } from './quit-running.ts'
import { changeService } from './service-face.ts'

const faces = { desktop: startDesktop, headless: startWithoutWindow, quit: quitRunningApp, service: changeService }
faces[faceOf(process.argv)]()
