/**
 * Returns the section of a changelog about a version, without its heading; of what is not released yet where that version has none.
 * @param {string} changelog in the format of Keep a Changelog
 * @param {string} version
 */
export function releaseNotes(changelog, version) {
  const sections = changelog.split(/^## (?=\[)/m).slice(1)
  const find = (name) => sections.find((section) => section.startsWith(`[${name}]`))
  const section = find(version) ?? find('Unreleased') ?? ''
  return section.slice(section.indexOf('\n') + 1).trim()
}
