// A box that updates itself with the package @awesomeorganization/hawkbit-ddi, and prints which version it runs.
// Arguments: the server's URL, the tenant, the box, its token, the version that it runs, the folder to install into.
import { constants, hawkBitDDI } from '@awesomeorganization/hawkbit-ddi'

const { execution, finished, hashes, mode, update } = constants
const [url, tenant, controllerId, targetToken, runs, artifactsPath] = process.argv.slice(2)

const { polling } = await hawkBitDDI({
  // The package's HTTP library cannot use the IP address of the tests' artifact host. This is the name in its certificate.
  agentOptions: { connect: { servername: 'example.com' } },
  artifactsPath,
  controllerId,
  downloadField: 'download',
  hashAlgorithm: hashes.sha256,
  targetToken,
  tenant,
  url,
})

const install = async ({ downloadArtifact, get, postFeedback }) => {
  const told = await get()
  if (told instanceof Error) {
    return told
  }
  if (told.deployment.update === update.skip) {
    return
  }
  const artifacts = told.deployment.chunks.flatMap((chunk) => chunk.artifacts)
  const of = artifacts.length
  let cnt = 0
  await postFeedback({ cnt, of, execution: execution.proceeding, finished: finished.none })
  for (const artifact of artifacts) {
    const size = await downloadArtifact(artifact)
    if (size instanceof Error) {
      return postFeedback({ cnt, of, details: [size.message], execution: execution.closed, finished: finished.failure })
    }
    cnt++
    console.log(`written: ${artifact.filename}`)
  }
  return postFeedback({ cnt, of, execution: execution.closed, finished: finished.success })
}

const act = async () => {
  const polled = await polling()
  if (polled instanceof Error) {
    return polled
  }
  const { action, methods } = polled
  switch (action) {
    case 'configData':
      return methods.put({
        data: { installed: runs },
        details: [],
        execution: execution.closed,
        finished: finished.success,
        mode: mode.merge,
      })
    case 'deploymentBase':
      return install(methods)
    case 'cancelAction':
      return methods.postFeedback({ details: [], execution: execution.closed, finished: finished.success })
  }
}

for (;;) {
  const result = await act()
  if (result instanceof Error) {
    console.log(`failed: ${result.message}`)
  }
}
