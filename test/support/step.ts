/** Runs a step of a story, which continues where the previous step ended. Its name is in the error if it fails. */
export async function step(name: string, run: () => void | Promise<void>): Promise<void> {
  try {
    await run()
  } catch (error) {
    if (error instanceof Error) error.message = `${name}: ${error.message}`
    throw error
  }
}
