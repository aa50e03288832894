// Adds our own flags to electron-builder's: makes the installers of the desktop app, or the key that signs its updates.
import { configureBuildCommand, createYargs } from 'electron-builder/out/builder.js'
import { join } from 'node:path'

const { makeInstallers } = await import('../packaging/installers/make-installers.ts')
const { makeUpdateKey, readUpdateKeyFlags } = await import('../packaging/installers/update-key.ts')

/** @param {string[]} flags of electron-builder's command, and our own */
const read = (flags) =>
  configureBuildCommand(createYargs())
    .usage('npm run package -- [flags]')
    .option('tools', {
      type: 'string',
      description: "Folder of Electron's archives and the tools: what is missing there is fetched into it",
    })
    // They are taken out before: this is for the help.
    .option('sign-with', {
      type: 'string',
      description: 'File of the private key that signs the description of the release',
    })
    .option('update-key', { type: 'string', description: 'Makes such a key, and nothing else' })
    .strict()
    .help()
    .parse(flags)

try {
  const { newKey, signWith, rest } = readUpdateKeyFlags(process.argv.slice(2), process.env)
  if (newKey === undefined) console.log(await makeInstallers(read(rest), signWith))
  else console.log(makeUpdateKey(newKey, join(import.meta.dirname, '..')))
} catch (error) {
  // Its message says what to mend.
  console.error(error instanceof Error ? error.message : String(error))
  process.exit(1)
}
