import { startDesktop } from './desktop.ts'
import { faceOf } from './face.ts'
import { startWithoutWindow } from './headless-face.ts'
import { lacksHeadlessPlatform, runOnHeadlessPlatform } from './headless-platform.ts'
import { quitRunningApp } from './quit-running.ts'
import { changeService } from './service-face.ts'
import { placeUserFolder } from './user-folder.ts'

const faces = { desktop: startDesktop, headless: startWithoutWindow, quit: quitRunningApp, service: changeService }
const face = faceOf(process.argv)
if (face !== 'desktop' && lacksHeadlessPlatform(process.argv)) await runOnHeadlessPlatform()
faces[face](await placeUserFolder(face))
