import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { buildClientKit } from '../../../packaging/client-kit/make-client-kit.ts'

const description = join(import.meta.dirname, '../../../clients/typescript/package.json')

/** Builds the client kit and installs it as a package of a folder. @returns folder of the package */
export async function installClientKit(folder: string): Promise<string> {
  const installed = join(folder, 'node_modules/roomdesk-client')
  await mkdir(installed, { recursive: true })
  await copyFile(description, join(installed, 'package.json'))
  buildClientKit(join(installed, 'dist'))
  return installed
}
