import { startDesktop } from './desktop.ts'
import { faceOf } from './face.ts'
import { startWithoutWindow } from './headless-face.ts'
import { quitRunningApp } from './quit-running.ts'

const faces = { desktop: startDesktop, headless: startWithoutWindow, quit: quitRunningApp }
faces[faceOf(process.argv)]()
