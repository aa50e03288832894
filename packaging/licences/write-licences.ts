import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ThirdParty, thirdParties } from './third-parties.ts'

/** Its name in `dist`, in every package and in every installer. */
export const licencesFile = 'THIRD-PARTY-LICENCES.txt'

const line = '='.repeat(80)

/**
 * Writes the licences of everything of others that is in the product, into `dist`.
 * @param root of the project, built and with its packages installed
 * @throws LicenceMissingError
 */
export function writeLicences(root: string): void {
  const dist = join(root, 'dist')
  writeFileSync(join(dist, licencesFile), licencesText(thirdParties(root, dist)))
}

function licencesText(parties: readonly ThirdParty[]): string {
  const width = Math.max(...parties.map(({ name, version }) => name.length + version.length + 1))
  const list = parties.map(({ name, version, licence }) => `${`${name} ${version}`.padEnd(width)}  ${licence}`)
  const texts = parties.map(({ name, version, licence, source, text }) =>
    [line, `${name} ${version}`, `Licence: ${licence}`, `Source:  ${source}`, line, '', tidy(text), ''].join('\n'),
  )
  return [
    'Roomdesk is made with the software below. Each part is under its own licence, which follows whole.',
    'The source of each part is where its entry says.',
    '',
    ...list,
    '',
    ...texts,
  ].join('\n')
}

/** One kind of line end, none of the blanks at the ends of lines. */
function tidy(text: string): string {
  return text
    .replace(/^\uFEFF/, '')
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[ \t]+$/gm, '')
    .trim()
}
