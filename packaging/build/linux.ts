import { usage } from '../../server/bin/launch-options.ts'
import { optionsFile, readOptions } from './option.ts'
import { documents, programFiles, unit } from './program-files.ts'
import type { Release } from './release.ts'
import { tarball } from './tar.ts'
import { textFile } from './tree.ts'

/** Path of the program for the unit in the archive: a link to the folder of one version. */
const installed = '/opt/roomdesk'

/** The folder in the archive; its file has this name and `.tar.gz`. */
export function linuxName({ version }: Pick<Release, 'version'>): string {
  return `roomdesk-server-${version}-linux-x64`
}

/**
 * An archive with one folder that runs as it is, wherever it is put.
 * @throws PartMissingError
 */
export async function linuxArchive(release: Release): Promise<Buffer> {
  const folder = linuxName(release)
  const { root, time, compression } = release
  const files = [
    ...programFiles(root, folder),
    ...documents(root, `${folder}/docs`),
    textFile(`${folder}/roomdesk.service`, unit(root, installed, `file://${installed}/docs/operate/install.md`)),
    textFile(`${folder}/roomdesk.env`, optionsFile(readOptions(usage))),
  ]
  return tarball(files, { time, compression })
}
